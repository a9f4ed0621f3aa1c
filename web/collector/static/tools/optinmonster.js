// OptinMonster: its `om.*` events on the document, which have the campaign.
// optinmonster.com/docs/optinmonster-javascript-events-api
export default {
  forms: "[id^=om-]",
  idOf: (attribute) => /^om-([a-z\d]{16,})/.exec(attribute("id"))?.[1],
  hear: ({ listen, report, step, submit, finish }) => {
    const views = {};
    const idOf = ({ detail: { Campaign } }) => Campaign.id || Campaign.data?.id || Campaign.ns;
    listen(document, "om.Campaign.afterShow", (event) => {
      const id = idOf(event);
      views[id] ||= event.detail.Campaign.view;
      report(id, "Viewed");
    });
    // From the question before the form to the form.
    listen(document, "om.Campaign.changeView.done", (event) => {
      const id = idOf(event);
      const { view } = event.detail.Campaign;
      for (const name of [views[id], view]) if (name && view != "success") step(id, name);
    });
    listen(document, "om.Optin.success", (event) => {
      const id = idOf(event);
      submit(id, event.detail.Optin?.data?.fields?.email);
      finish(id);
    });
  },
};
