// Stands for OptinMonster's script.
const id = "flfvc7vrkaixj2rfbzlw";
const campaign = { id, data: { id }, ns: id, view: "yesno" };
const tell = (name, more) =>
  document.dispatchEvent(new CustomEvent("om." + name, { detail: { Campaign: { ...campaign }, ...more }, cancelable: true }));
const holder = document.body.appendChild(document.createElement("div"));
holder.id = `om-${id}`;
const load = () => {
  for (const name of ["Campaign.load", "Campaign.canShow", "Campaign.startShow", "Campaign.show"]) tell(name);
};
setTimeout(() => {
  holder.innerHTML = `<div id="om-${id}-yesno"><h2>Ten per cent?</h2><button id="yes">Yes</button></div>`;
  load();
  tell("Campaign.afterShow");
  yes.onclick = () => {
    campaign.view = "optin";
    tell("Campaign.load");
    holder.innerHTML = `<div id="om-${id}-optin"><form><input type="email" name="email"><button>Sign up</button></form></div>`;
    tell("Campaign.changeView.done");
    holder.querySelector("form").onsubmit = (event) => {
      event.preventDefault();
      const email = holder.querySelector("input").value;
      tell("Optin.submit");
      tell("Optin.success", { Optin: { data: { fields: { email, phone: "+49170" } } }, response: {} });
      campaign.view = "success";
      tell("Campaign.changeView.done");
    };
  };
}, 500);
