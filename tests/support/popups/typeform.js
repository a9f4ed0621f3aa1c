// Stands for Typeform's embed library.
const embed = (id, place) => {
  const frame = document.createElement("iframe");
  frame.src = `https://form.typeform.com/to/${id}?typeform-embed-id=0815&typeform-embed=embed-widget`;
  place.append(frame);
};
embed("moe6aa", document.querySelector("[data-tf-widget]"));
document.querySelector("[data-tf-popup]").onclick = () => embed("LsBbgGw0", document.body);
