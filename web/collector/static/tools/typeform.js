// Typeform: the messages of its frame, which have no answers and no address.
// github.com/Typeform/embed
const forms = "iframe[src*='typeform.com/to/']";
const idOf = (attribute) => /\/to\/(\w+)/.exec(attribute("src"))?.[1];
export default {
  forms,
  idOf,
  hear: ({ listen, report, step, submit, finish, isFrom }) => {
    const ended = {};
    listen(window, "message", (event) => {
      const { type, formId, ref } = event.data;
      if (!isFrom(event, /(^|\.)typeform\.com$/)) return;
      // Its builds before did not name the form.
      const frame = [...document.querySelectorAll(forms)].find((each) => each.contentWindow == event.source);
      const id = formId || (frame && idOf((name) => frame.getAttribute(name)));
      if (type == "form-started") report(id, "Started");
      // The screen after the last question is none.
      if (type == "form-screen-changed" && ref && !ended[id]) step(id, ref);
      if (type != "form-submit") return;
      ended[id] = 1;
      submit(id);
      finish(id);
    });
  },
};
