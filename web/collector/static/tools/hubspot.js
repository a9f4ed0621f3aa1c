// HubSpot: events of forms of the new editor, and messages of those of the editor before.
// developers.hubspot.com/docs/api-reference/latest/marketing/forms/global-form-events
// developers.hubspot.com/docs/cms/start-building/features/forms/legacy-forms
export default {
  forms: ".hs-form-frame[data-form-id],.hs-form-html[data-form-id],form[id^=hsForm_]",
  idOf: (attribute) =>
    /[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/
      .exec((attribute("data-form-id") || attribute("id")).toLowerCase())?.[0],
  hear: ({ listen, step, submit, finish, isFrom }) => {
    const formOf = (event) => (window.HubSpotFormsV4 || window.HubspotFormsV4)?.getFormFromEvent(event);
    const idOf = (event) => (event.detail?.formId || formOf(event).getFormId()).toLowerCase();
    const end = (id, email) => {
      submit(id, email);
      finish(id);
    };
    // Its pages have no names.
    const pages = {};
    listen(window, "hs-form-event:on-interaction:navigate:next", (event) => {
      const id = idOf(event);
      const page = (pages[id] = (pages[id] || 1) + 1);
      step(id, "" + (page - 1));
      step(id, "" + page);
    });
    listen(window, "hs-form-event:on-interaction:navigate:previous", (event) => pages[idOf(event)]--);
    listen(window, "hs-form-event:on-submission:success", (event) => {
      const id = idOf(event);
      new Promise((done) => done(formOf(event).getFormFieldValues()))
        .then((fields) => fields.find(({ name }) => /(^|\/)email$/.test(name)).value)
        .catch(() => {})
        .then((email) => end(id, email));
    });
    const emails = {};
    listen(window, "message", (event) => {
      const { type, eventName, data, id: guid } = event.data;
      if (type != "hsFormCallback" || !isFrom(event, /(^|\.)(hsforms\.(net|com)|hubspot\.com)$/)) return;
      const id = guid.toLowerCase();
      if (eventName == "onFormSubmit") emails[id] = data.find(({ name }) => name == "email")?.value;
      if (eventName == "onFormSubmitted") end(id, data?.submissionValues?.email || emails[id]);
    });
  },
};
