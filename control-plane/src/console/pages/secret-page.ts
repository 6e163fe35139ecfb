import { html } from '../../http/pages/html.ts';
import { linkButton } from '../components/fields.ts';
import type { Page } from '../visit.ts';

/** Shows a secret that is stored nowhere, once. */
export const secretPage = (title: string, secret: string, href: string): Page => ({
  title,
  body: html`<section class="card"><p>It is shown only now. Copy it to where it is needed.</p><pre class="secret" tabindex="0"><code>${secret}</code></pre><div class="buttons">${linkButton('Go on', href, 'main')}</div></section>`,
});
