import { type Html, html } from '../../http/pages/html.ts';
import { ByteBudget, showLeftOut } from './byte-budget.ts';
import type { Report, ReportLimit } from './report.ts';

/** The bytes for all limits. */
const LIMITS_BYTES = 32_000;

/**
 * What was not captured, and what was done to the pages so that they could be captured; null if there is nothing to
 * say.
 */
export function showLimits({ limits }: Report): Html | null {
  if (limits.length === 0) return null;
  const budget = new ByteBudget(LIMITS_BYTES);
  const items = budget.list(limits, showLimit);
  return html`<section class="card limits" id="limits"><h2>Limits of this scan</h2><ul>${items}</ul>${showLeftOut(budget.leftOut, 'more are')}</section>`;
}

/** A limit on which checks rest comes with their names. */
function showLimit({ text, checks }: ReportLimit): Html {
  if (checks === null) return html`<li>${text}</li>`;
  return html`<li class="medium"><b>${text}</b>${checks !== '' && html`<span class="quiet">Incomplete checks: ${checks}</span>`}</li>`;
}
