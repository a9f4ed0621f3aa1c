"""The assistant's door: the API's answers for programs that speak the Model Context Protocol.

`views.py` speaks the protocol, `tools.py` has what can be asked, `instructions.md` what an assistant is told
first; `web/cli/mcp.py` leads desktop clients here. START HERE: `tools.py`.
"""

from typing import Final

PATH: Final = "/mcp"
# The versions that are spoken. In the newer one every request names its version in `params._meta`.
STATELESS: Final = "2026-07-28"
HANDSHAKE: Final = "2025-11-25"
META: Final = "io.modelcontextprotocol/"
