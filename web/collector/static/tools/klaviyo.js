// Klaviyo: the event `klaviyoForms`, which has the form's id, and with a submission what was filled in.
// developers.klaviyo.com/en/docs/track_klaviyo_form_activity_using_javascript
const forms = (id) => "[data-testid^=klaviyo-form-" + id + "],div[class*=klaviyo-form-" + id + "]";
export default {
  forms: forms(""),
  idOf: (attribute) =>
    (/^klaviyo-form-(\w+)/.exec(attribute("data-testid")) ||
      /klaviyo-form-(?=\w*[A-Z\d])(\w{6})(?!\w)/.exec(attribute("class")))?.[1],
  hear: ({ listen, report, step, submit, finish }) => {
    const tell = ({ detail: { type, formId, metaData } }) => {
      // A form in the page is loaded then, and seen when the visitor comes to it.
      if (type == "open" || (type == "embedOpen" && !document.querySelector(forms(formId))))
        report(formId, "Viewed");
      if (type == "stepSubmit" && metaData?.$step_name) step(formId, metaData.$step_name, 1);
      if (type != "submit") return;
      submit(formId, metaData?.email || metaData?.$email);
      finish(formId);
    };
    // Its builds before had the document as the target.
    for (const target of [window, document]) listen(target, "klaviyoForms", tell);
  },
};
