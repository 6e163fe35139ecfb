const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();

/** The name of a parameter's field: that of its row. @param {Element} field */
const parameterOf = (field) => field.closest('[data-param-name]')?.getAttribute('data-param-name') ?? '';

/**
 * What Swagger UI's elements lack for people who do not see them, or use the keyboard alone: names, levels of headings without gaps, and
 * code that can be scrolled. @type {[selector: string, attribute: string, value: string | ((element: Element) => string)][]}
 */
const LACKING = [
  ['.information-container > section', 'aria-label', 'About this API'],
  ['.scheme-container > section', 'aria-label', 'Server and key'],
  ['section.models', 'aria-label', 'Schemas'],
  ['.responses-table[role=region]', 'aria-label', (table) => `Responses ${table.id}`],
  ['#servers', 'aria-label', 'Server'],
  ['.parameters-col_description select', 'aria-label', parameterOf],
  ['.body-param__text', 'aria-label', 'Request body'],
  ['.close-modal', 'aria-label', 'Close'],
  ['.modal-btn.authorize', 'aria-label', 'Authorize: apply credentials'],
  ['.opblock-tag, .models > h4, .modal-ux-header > h3', 'aria-level', '2'],
  ['.auth-container h4, .opblock h4', 'aria-level', '3'],
  ['.opblock h5', 'aria-level', '4'],
  ['pre.microlight', 'tabindex', '0'],
];

function addLacking() {
  for (const [selector, attribute, value] of LACKING)
    for (const element of document.querySelectorAll(selector)) {
      const text = typeof value === 'string' ? value : value(element);
      if (element.getAttribute(attribute) !== text) element.setAttribute(attribute, text);
    }
}
new MutationObserver(addLacking).observe(document.body, { childList: true, subtree: true });

/**
 * The link of an operation is inside the button that opens it, where no link may be; the button has the same effect, and shows the same address.
 * Links of tags stay.
 */
const linksOutsideOfButtons = () => ({
  wrapComponents: {
    /** @param {unknown} Link @param {any} system */
    DeepLink:
      (Link, { React }) =>
      (/** @type {{ path: string, text: unknown }} */ properties) =>
        properties.path.includes('/')
          ? React.createElement('span', null, properties.text)
          : React.createElement(Link, properties),
  },
});

/** @type {{ SwaggerUIBundle: (options: object) => unknown }} */
const { SwaggerUIBundle: showReference } = /** @type {any} */ (globalThis);
showReference({
  url: '../api/v1/openapi.json',
  dom_id: '#reference',
  plugins: [linksOutsideOfButtons],
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  validatorUrl: null,
});
