// Stands for HubSpot's scripts of both editors.
window.HubSpotFormsV4 ||= {
  getFormFromEvent: ({ detail }) => ({
    getFormId: () => detail.formId,
    getFormFieldValues: async () => [{ name: "0-1/phone", value: "+49170" }, { name: "0-1/email", value: detail.typed }],
  }),
};
addEventListener("DOMContentLoaded", () => {
  if (document.querySelector("iframe")) return;
  const container = document.querySelector(".hs-form-frame");
  const formId = container.dataset.formId.toLowerCase();
  const frame = document.createElement("iframe");
  frame.src = "https://forms.hsforms.com/frame.html";
  container.append(frame);
  const tell = (name, more) =>
    dispatchEvent(new CustomEvent("hs-form-event:" + name, { detail: { formId, instanceId: "0", ...more } }));
  addEventListener("message", ({ origin, data }) => {
    if (origin != "https://forms.hsforms.com" || !data.name) return;
    tell(data.name, data);
    // One of the new editor may tell it in the way of the one before, too.
    if (/success/.test(data.name)) postMessage({ type: "hsFormCallback", eventName: "onFormSubmitted", id: formId }, "*");
  });
  tell("on-ready");
  const form = document.querySelector("form");
  const id = form.getAttribute("data-form-id");
  const say = (eventName, data) => postMessage({ type: "hsFormCallback", eventName, id, data }, "*");
  say("onFormReady");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const { value } = form.querySelector("[type=email]");
    if (!value.includes("@")) return;
    say("onFormSubmit", [{ name: "email", value }, { name: "phone", value: "+49170" }]);
    setTimeout(() => {
      form.outerHTML = "<p>Thank you.</p>";
      say("onFormSubmitted", { formGuid: id, submissionValues: {} });
    }, 300);
  });
});
