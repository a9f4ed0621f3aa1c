// Stands for Klaviyo's script.
const tell = (type, formId, metaData = {}) =>
  dispatchEvent(
    new CustomEvent("klaviyoForms", { detail: { type, formId, formVersionId: 7, companyId: "ABC123", metaData } }),
  );
const html = (id, title) => `<form class="needsclick klaviyo-form klaviyo-form-version-cid_1 go1828430365"
  data-testid="klaviyo-form-${id}" novalidate><h2>${title}</h2><input type="email" name="email" id="email_${Math.random()}">
  <button type="submit">Go on</button></form>`;
const open = (id, title, place, type) => {
  place.innerHTML = html(id, title);
  let step = 0;
  const form = place.querySelector("form");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const email = form.querySelector("[name=email]")?.value;
    if (!step++) {
      if (!email) return (step = 0);
      tell("stepSubmit", id, { email, $step_name: "Email Opt-In" });
      tell("submit", id, { email, $phone_number: "+49170" });
      if (type == "open") form.innerHTML = '<input type="tel" name="phone"><button>Go on</button>';
      return;
    }
    tell("stepSubmit", id, { $phone_number: "+49170", $step_name: "SMS Opt-In" });
    place.textContent = "Thank you.";
    tell("close", id);
  });
  tell(type, id);
};
const popUp = document.body.appendChild(document.createElement("div"));
setTimeout(() => open("EmBeD7", "Embedded", document.querySelector(".klaviyo-form-EmBeD7"), "embedOpen"), 500);
setTimeout(() => open("PoPuP9", "Pop-up", popUp, "open"), 1000);
