"""The production server."""

from granian.constants import Interfaces
from granian.log import LogLevels
from granian.server import Server


def run(host: str, port: int, workers: int) -> None:
    Server("web.server:application", address=host, port=port, interface=Interfaces.WSGI, workers=workers, factory=True, log_level=LogLevels.warning, websockets=False).serve()


def application():
    from web.app import create_app
    from web.logs import configure
    configure()
    return create_app()
