import { type Html, html } from '../../http/pages/html.ts';
import { button, hidden } from '../components/fields.ts';

/**
 * The form that takes an API key. `problem`: why the person is asked, or asked again; `isKeyWrong`: because of the key;
 * `oauth`: the address of the sign-in by OAuth.
 */
export function signInForm(
  action: string,
  to: string,
  { problem, isKeyWrong, oauth }: { problem: string | null; isKeyWrong: boolean; oauth: string },
): Html {
  const invalid = isKeyWrong && html` aria-invalid="true" aria-describedby="problem"`;
  return html`<section class="card"><h1>Sign in</h1>
<form method="post" action="${action}">${hidden('to', to)}
${problem !== null && html`<p class="problem" id="problem" role="alert">${problem}</p>`}
<label for="key">API key of your organization</label>
<input id="key" name="key" type="password" required autofocus autocomplete="current-password" spellcheck="false" maxlength="500"${invalid}>
<div class="buttons">${button('Sign in')}</div>
</form>
<p><a href="${oauth}">Sign in by OAuth instead</a>: choose what the console may do, and end it in one place.</p>
<p class="quiet">The key stays on the server; scripts of this page cannot read it. <code>npm start</code> prints the first key after the word <code>key</code>; otherwise ask the operator of this service for one.</p></section>`;
}

/** Says why a request cannot go on, with a way out. */
export const problemCard = (title: string, text: string, href: string, label: string): Html =>
  html`<section class="card"><h1>${title}</h1><p>${text}</p><p><a href="${href}">${label}</a></p></section>`;
