"""The forms: their fields, the values that they accept, and the messages for those that they refuse."""

import re
from collections.abc import Callable
from typing import Any, Final

from flask_wtf import FlaskForm
from wtforms import (
    BooleanField,
    EmailField,
    HiddenField,
    PasswordField,
    SelectMultipleField,
    StringField,
)
from wtforms.fields import RadioField
from wtforms.validators import DataRequired, EqualTo, InputRequired, Length, ValidationError

from warehouse.domain import text_rules
from warehouse.domain.landing_names import can_be_folder
from warehouse.domain.vocabulary import SCOPES
from warehouse.intake.shop_pulls import is_shopify_domain
from warehouse.setting_values import origins as parse_origins
from warehouse.shops.shop_registry import ShopSettings
from web.auth import passwords
from web.auth.api_keys import GRACE_PERIODS, end_of_day
from web.auth.members import normalize_email
from web.http.services import services

GRACE_LABELS: Final = {"now": "It stops now", "1h": "One hour", "24h": "24 hours", "7d": "7 days"}
_LONGEST_SECRET: Final = 1_000


def _strip(text: str | None) -> str:
    return (text or "").strip()


def _lower(text: str) -> str:
    return text.lower()


class ExpiryField(StringField):
    """A UTC day or nothing. `instant` is the end of that day in microseconds, None without a day."""

    instant: int | None = None

    def pre_validate(self, form: Any) -> None:
        self.instant = None
        if not self.data:
            return
        try:
            self.instant = end_of_day(self.data)
        except ValueError:
            raise ValidationError("Write the day as YYYY-MM-DD.") from None
        if self.instant <= services().clock():
            raise ValidationError("Choose today or a later day.")


class OriginsField(StringField):
    """Origins with commas between them, or nothing. `origins` are those, in lower case."""

    origins: tuple[str, ...] = ()

    def pre_validate(self, form: Any) -> None:
        try:
            self.origins = parse_origins(self.data or "")
        except ValueError:
            raise ValidationError(
                "Write each as https://shop.example, without a path; * stands for all."
            ) from None


class RuleField(StringField):
    """A text that a rule of `warehouse/domain/text_rules.py` allows, as it is stored."""

    data: str | None

    def __init__(self, label: str, rule: Callable[[str], str], **options: Any) -> None:
        super().__init__(label, filters=[_strip], **options)
        self._rule = rule

    def pre_validate(self, form: Any) -> None:
        try:
            self.data = self._rule(self.data or "")
        except ValueError as error:
            raise ValidationError(f"This {error}.") from None


class SignInLinkForm(FlaskForm):
    stay = BooleanField("Keep me signed in on this device for 30 days")


class SignInForm(SignInLinkForm):
    email = EmailField(
        "E-mail address",
        filters=[_strip, _lower],
        validators=[DataRequired("Enter your e-mail address."), Length(max=254)],
    )
    password = PasswordField(
        "Password", validators=[InputRequired("Enter your password."), Length(max=4096)]
    )


class FirstMemberForm(FlaskForm):
    email = EmailField(
        "E-mail address",
        filters=[_strip, _lower],
        validators=[DataRequired("Enter your e-mail address.")],
    )

    def validate_email(self, field: EmailField) -> None:
        try:
            normalize_email(field.data or "")
        except ValueError as error:
            raise ValidationError(
                f"{field.data!r} {error}. Write it as name@example.com."
            ) from None


class PasswordForm(FlaskForm):
    """A new password. Whether it is easy to guess takes long to find out: `passwords.require_strong` does
    it later."""

    password = PasswordField("New password", validators=[InputRequired("Enter a password.")])
    again = PasswordField(
        "Repeat the password",
        validators=[EqualTo("password", "The two passwords are not the same.")],
    )

    def validate_password(self, field: PasswordField) -> None:
        objection = passwords.objection_to_length(field.data or "")
        if objection:
            raise ValidationError(objection)


class ChangePasswordForm(PasswordForm):
    old = PasswordField(
        "Current password",
        validators=[InputRequired("Enter your current password."), Length(max=4096)],
    )


class _NewCredentialForm(FlaskForm):
    """A form that creates a credential. Sent twice, it creates one."""

    name = StringField(
        "Name",
        filters=[_strip],
        validators=[
            DataRequired("Enter a name for the key."),
            Length(max=100, message="Use at most 100 characters."),
        ],
    )
    once = HiddenField(validators=[DataRequired(), Length(max=100)])

    def validate_name(self, field: StringField) -> None:
        if not str(field.data).isprintable():
            raise ValidationError("Remove the characters that cannot be printed.")


class NewWriteKeyForm(_NewCredentialForm):
    origins = OriginsField(
        "Addresses of your site (optional)",
        filters=[_strip],
        validators=[Length(max=2000, message="Use at most 2,000 characters.")],
    )


class NewKeyForm(_NewCredentialForm):
    scopes = SelectMultipleField(
        "Scopes", choices=list(SCOPES), validators=[DataRequired("Choose at least one scope.")]
    )
    expires = ExpiryField("Expiry date (optional)", filters=[_strip])


class RotateForm(FlaskForm):
    grace = RadioField(
        "How much longer does the old key work?",
        choices=list(GRACE_PERIODS),
        default="24h",
        validators=[InputRequired("Choose one.")],
    )
    expires = ExpiryField("Expiry date of the new key (optional)", filters=[_strip])


def _shop_id(text: str) -> str:
    """The domain, also of an address as it is copied from a browser."""
    domain = re.sub(r"^https?://|/$", "", text.lower())
    if not re.fullmatch(r"[\w-]+(\.[\w-]+)+", domain) or not can_be_folder(domain):
        raise ValueError(f"is not a shop's domain: {text!r}; an example is example.myshopify.com")
    return text_rules.identifier(domain)


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
        fields = (self.shop_id, self.name, self.currency, self.timezone)
        return ShopSettings(*(field.data or "" for field in fields))

    def refuse_taken(self) -> None:
        """Say at the shop's field that there is such a shop."""
        self.shop_id.errors = [
            "This shop is here already. Ask the person who runs this service to add you to it."
        ]


class ShopChangeForm(FlaskForm):
    """The changes of a shop that are possible. Its orders keep its currency."""

    name = RuleField("Name (optional)", text_rules.name)
    timezone = RuleField("Time zone", text_rules.timezone)


class FirstShopForm(PasswordForm, ShopForm):
    """The password of an operator, and their first shop."""


class ShopifyForm(FlaskForm):
    domain = RuleField("The shop's domain at Shopify", _shopify_domain)
    client_id = StringField(
        "Client ID",
        filters=[_strip],
        validators=[DataRequired("Enter the app's client ID."), Length(max=_LONGEST_SECRET)],
    )
    client_secret = PasswordField(
        "Client secret",
        filters=[_strip],
        validators=[InputRequired("Enter the app's secret."), Length(max=_LONGEST_SECRET)],
    )
