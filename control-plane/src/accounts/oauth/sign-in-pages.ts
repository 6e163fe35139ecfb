import type { Permission } from '../../http/caller.ts';
import { type Assets, type Html, html, pageDocument } from '../../http/pages/html.ts';

/** What each permission lets a program do, for people who are asked to consent. */
const MEANINGS: Record<Permission, string> = {
  'scans.read': 'See scans, their findings, screenshots and files',
  'scans.write': 'Create, cancel and recheck scans, which are charged',
  'campaigns.read': 'See campaigns, groups and runs',
  'campaigns.write': 'Change campaigns and groups, and start runs, which are charged',
  'custom_rules.manage': 'Change and test detection rules and tags',
  'custom_taxonomies.manage': 'Change taxonomies',
  'policies.read': 'See policy sets',
  'policies.manage': 'Change and publish policy sets',
  'alerts.read': 'See alerts',
  'alerts.manage': 'Resolve, dismiss and reopen alerts',
  'alert_notifications.manage': 'Change where alerts are sent',
  'webhooks.manage': 'Change webhooks, and see what was delivered',
  'billing.read': 'See usage, charges and the balance',
  'account.manage': 'Change API keys, roles, OAuth clients and labels',
  'fleet.read': 'See the browser nodes',
  'fleet.manage': 'Drain and block browser nodes',
  'organizations.manage': 'Change every organization of this deployment',
};

/**
 * A client on the page: its name, and where the person returns to. `isRegistered`: it registered itself, so its name is
 * its own claim.
 */
export type ShownClient = { name: string; returnsTo: string; isRegistered: boolean };

const FOOTER = 'Adsweep is open source, under the Apache License 2.0.';

/** The pages on which people sign in to an OAuth client: plain forms that work without scripts. */
export function signInPages(assets: Assets) {
  const page = (title: string, body: Html): string =>
    pageDocument(
      { title: `${title} - Adsweep`, heading: 'Sign in', footer: FOOTER },
      assets,
      html`<div class="sign-in">${body}</div>`,
    );

  return {
    /** Asks for an API key. `problem`: why the key that was sent is refused. */
    signIn: (client: ShownClient, problem: string | null): string => page('Sign in', signInForm(client, problem)),

    /** Asks for consent. `granted`: what the client asks for and the key has; `withheld`: what the key lacks. */
    consent: (client: ShownClient, keyName: string, granted: Permission[], withheld: Permission[]): string =>
      page('Consent', consentForm(client, keyName, granted, withheld)),

    /** Says that a request cannot go on. `error` is OAuth's code. */
    problem: (error: string, description: string): string =>
      page(
        'Not possible',
        html`<section class="card"><h1>This sign-in cannot go on</h1>
<p>${description}</p>
<p class="quiet">Go back to the program that sent you here and begin again. Its developers need this code: <code>${error}</code></p></section>`,
      ),
  };
}

const about = ({ name, returnsTo, isRegistered }: ShownClient): Html =>
  html`<p class="quiet">You return to <b>${returnsTo}</b>.${
    isRegistered && html` <b><bdi>${name}</bdi></b> registered itself: check that this address is where you came from.`
  }</p>`;

function signInForm(client: ShownClient, problem: string | null): Html {
  const invalid = problem !== null && html` aria-invalid="true" aria-describedby="problem"`;
  return html`<section class="card"><h1>Sign in to <bdi>${client.name}</bdi></h1>
${about(client)}
<form method="post">
${problem !== null && html`<p class="problem" id="problem" role="alert">${problem}</p>`}
<label for="key">API key of your organization</label>
<input id="key" name="key" type="password" required autofocus autocomplete="current-password" spellcheck="false" maxlength="500"${invalid}>
<div class="buttons"><button name="action" value="sign-in">Sign in</button>
<button class="plain" name="action" value="refuse" formnovalidate>Cancel</button></div>
</form>
<p class="quiet"><bdi>${client.name}</bdi> never sees the key. It gets tokens that end when the key is revoked.</p></section>`;
}

function consentForm(client: ShownClient, keyName: string, granted: Permission[], withheld: Permission[]): Html {
  const asked = html`<p>With the key <b><bdi>${keyName}</bdi></b> it could:</p>
<ul class="permissions">${granted.map((one) => html`<li>${MEANINGS[one]} <code>${one}</code></li>`)}</ul>`;
  const nothing = html`<p class="problem">The key <b><bdi>${keyName}</bdi></b> may do nothing of what it asks for.</p>`;
  return html`<section class="card"><h1>Let <bdi>${client.name}</bdi> act for you?</h1>
${about(client)}
${granted.length > 0 ? asked : nothing}
${withheld.length > 0 && html`<p class="quiet">It ${granted.length > 0 && 'also '}asks for ${inList(withheld)}, which your key lacks, and does not get it.</p>`}
<form method="post"><div class="buttons">
${granted.length > 0 && html`<button name="action" value="allow">Allow</button>`}
<button class="plain" name="action" value="another-key">Use another key</button>
<button class="plain" name="action" value="refuse">Refuse</button>
</div></form></section>`;
}

const inList = (permissions: Permission[]): Html[] =>
  permissions.map((one, at) => html`${at > 0 && ', '}<code>${one}</code>`);
