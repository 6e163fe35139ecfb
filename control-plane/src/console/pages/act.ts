import { ApiError } from '../../http/api-error.ts';
import { html } from '../../http/pages/html.ts';
import { parseJson } from '../../http/read-body.ts';
import { API_BODY } from '../../http/serve-routes.ts';
import type { Schemas } from '../api/schemas.ts';
import { backTo, DONE, type Done } from '../components/actions.ts';
import { linkButton } from '../components/fields.ts';
import { linkFor } from '../components/links.ts';
import { card, facts, table } from '../components/tables.ts';
import { counted } from '../components/texts.ts';
import type { Page, PageRoute, Visit } from '../visit.ts';
import { campaignNames } from './alerts.ts';
import { ERROR_WORDS } from './webhooks.ts';

const METHODS = ['POST', 'PUT', 'PATCH', 'DELETE'] as const;

/**
 * Calls the operation of a button, and returns to its page. What may be called is what the credential may: the API
 * decides.
 */
export const act: PageRoute = {
  method: 'POST',
  path: '/act',
  handle: async (visit) => {
    const { api, form } = visit;
    const method = METHODS.find((one) => one === form.get('method'));
    const path = form.get('path') ?? '';
    if (!method || !path.startsWith('/api/v1/')) throw new ApiError('not_found', 'There is no such action.');
    const result = await api.send<Partial<Result> | undefined>(method, path, await bodyOf(visit));
    if (result?.success === false) return failedTest(visit, result);
    if (result?.failures && result.failures.length > 0)
      return failedRuns(visit, result as Schemas['CampaignGroupAction']);
    const done = form.get('done') ?? '';
    return { redirect: backTo(visit, Object.hasOwn(DONE, done) ? { done: done as Done } : {}) };
  },
};

/** Operations that succeed although what they were to do failed. */
type Result = Schemas['WebhookTest'] & Schemas['DestinationTest'] & Schemas['CampaignGroupAction'];

const goBack = (visit: Visit) => html`<div class="buttons">${linkButton('Go back', backTo(visit, {}), 'main')}</div>`;

/** Why a test failed: it is stored nowhere. */
function failedTest(
  visit: Visit,
  { error, error_code, status, response_status, response_body }: Partial<Result>,
): Page {
  const reason = error ?? ERROR_WORDS[error_code ?? ''] ?? 'unknown';
  const about = facts([
    ['Reason', html`<bdi>${reason}</bdi>`],
    ['Status', String(status ?? response_status ?? 'no answer')],
  ]);
  const answer = response_body && html`<pre tabindex="0"><code><bdi>${response_body}</bdi></code></pre>`;
  return { title: 'The test failed', body: html`${card('What came back', html`${about}${answer}`)}${goBack(visit)}` };
}

/** Which campaigns of a group could not be run. */
async function failedRuns(visit: Visit, { run_ids, failures }: Schemas['CampaignGroupAction']): Promise<Page> {
  const names = await campaignNames(visit);
  const rows = failures.map(({ campaign_id, error_code, detail }) => [
    linkFor(
      visit,
      'campaigns.read',
      `/campaigns/${campaign_id}`,
      html`<bdi>${names.get(campaign_id) ?? campaign_id}</bdi>`,
    ),
    html`<bdi>${detail}</bdi><span class="meta"><code>${error_code}</code></span>`,
  ]);
  return {
    title: `${counted(failures.length, 'campaign')} could not be run`,
    body: html`<p>${run_ids.length === 0 ? 'No run was started.' : `${counted(run_ids.length, 'run')} of other campaigns ${run_ids.length === 1 ? 'was' : 'were'} started.`}</p>
<section class="card flush">${table('Campaigns that could not be run', [{ label: 'Campaign' }, { label: 'Why' }], rows)}</section>${goBack(visit)}`,
  };
}

/** Throws as the API does for a body that has too many values or is nested too deeply. */
async function bodyOf({ form }: Visit): Promise<unknown> {
  const sent = form.get('body');
  return sent === null ? undefined : parseJson(Buffer.from(sent), API_BODY);
}
