"""The forms of the set-up page: a shop, and the credentials of Shopify's pull."""

from collections.abc import Callable
from typing import Any

from flask_wtf import FlaskForm
from wtforms import PasswordField, StringField
from wtforms.validators import DataRequired, InputRequired, Length, ValidationError

from warehouse.domain import text_rules
from warehouse.domain.landing_names import can_be_folder
from warehouse.operations.shop_pulls import is_shopify_domain
from warehouse.operations.shop_registry import ShopSettings
from web.pages.forms import PasswordForm

_LONGEST_SECRET = 1_000


class RuleField(StringField):
    """A text that a rule of `warehouse/domain/text_rules.py` allows, as it is stored."""

    data: str | None

    def __init__(self, label: str, rule: Callable[[str], str], **options: Any) -> None:
        super().__init__(label, filters=[lambda text: (text or "").strip()], **options)
        self._rule = rule

    def pre_validate(self, form: Any) -> None:
        try:
            self.data = self._rule(self.data or "")
        except ValueError as error:
            raise ValidationError(f"This {error}.") from None


def _shop_id(text: str) -> str:
    if not can_be_folder(text):
        raise ValueError("is not a shop's domain; an example is example.myshopify.com")
    return text_rules.identifier(text)


def _shopify_domain(text: str) -> str:
    domain = text.lower()
    if not is_shopify_domain(domain):
        raise ValueError("is no domain of Shopify's; an example is example.myshopify.com")
    return domain


class ShopForm(FlaskForm):
    shop_id = RuleField("Shop", _shop_id)
    name = RuleField("Name (optional)", text_rules.name)
    currency = RuleField("Currency", text_rules.currency)
    timezone = RuleField("Time zone", text_rules.timezone)

    def settings(self) -> ShopSettings:
        """The shop of a form that is valid."""
        return ShopSettings(
            self.shop_id.data or "",
            self.name.data or "",
            self.currency.data or "",
            self.timezone.data or "",
        )

    def refuse_taken(self) -> None:
        """Say at the shop's field that there is such a shop."""
        self.shop_id.errors = [
            "This shop is here already. Ask the person who runs this service to add you to it."
        ]


class FirstShopForm(PasswordForm, ShopForm):
    """The password of an operator, and their first shop."""


class ShopifyForm(FlaskForm):
    domain = RuleField("The shop's domain at Shopify", _shopify_domain)
    client_id = StringField(
        "Client ID",
        filters=[lambda text: (text or "").strip()],
        validators=[DataRequired("Enter the app's client ID."), Length(max=_LONGEST_SECRET)],
    )
    client_secret = PasswordField(
        "Client secret",
        filters=[lambda text: (text or "").strip()],
        validators=[InputRequired("Enter the app's secret."), Length(max=_LONGEST_SECRET)],
    )
