// @ts-nocheck: a page’s script, as it would be served.
// An honest library of a payment provider: it knows cards, checkouts and Base64, and hides no address.
(() => {
  const api = 'https://api.payments.example/v1/tokens';
  const card = document.querySelector('[name="cardnumber"]');
  const cvv = document.querySelector('[name="cvv"]');
  card.form.addEventListener('submit', (event) => {
    event.preventDefault();
    const headers = { authorization: `Basic ${btoa('key:')}` };
    fetch(api, {
      method: 'POST',
      headers,
      body: JSON.stringify({ card: card.value, cvv: cvv.value, source: 'checkout' }),
    });
  });
  window.decodePart = (part) => JSON.parse(atob(part));
})();
