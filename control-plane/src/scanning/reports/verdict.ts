import { subjectLanding } from '@adsweep/shared/capture/capture.ts';
import { isFinal } from '@adsweep/shared/scan/scan-status.ts';
import type { Severity } from '../../reference/tags/system-tag.ts';
import type { Report } from './report.ts';
import { failureWords, statusWords } from './words.ts';

/** What a report says first. `tone` chooses colour and sign, `busy`: it is not over yet. */
export type Verdict = { tone: 'busy' | 'clean' | 'failed' | 'cancelled' | Severity; title: string; text: string };

export function verdictOf(report: Report): Verdict {
  switch (report.status) {
    case 'pending':
      return { tone: 'busy', title: 'Waiting for a browser', text: waitingWords(report.retries) };
    case 'running':
      return { tone: 'busy', title: 'Loading the target', text: 'A browser is visiting the target right now.' };
    case 'crawled':
    case 'checking':
      return { tone: 'busy', title: 'Checking what was seen', text: 'The target was loaded. Its checks are running.' };
    case 'rechecking':
      return {
        tone: 'busy',
        title: 'Checking again',
        text: 'The checks run again over what was captured. Tags appear when they are done.',
      };
    case 'failed':
      return { tone: 'failed', title: 'The scan failed', text: failureWords(report.error) };
    case 'cancelled':
      return { tone: 'cancelled', title: 'The scan was cancelled', text: 'It was called off before it began.' };
    case 'completed':
      return foundWords(report, 'All checks were made.');
    case 'partial':
      return foundWords(report, `This is not the whole picture: ${missingWords(report.error)}`);
  }
}

/** Whether the page should reload itself. */
export const isUnderWay = (report: Report): boolean => !isFinal(report.status);

function foundWords({ tags, ...seen }: Report, checked: string): Verdict {
  const [worstTag] = tags;
  const failed = errorAnswered(seen);
  const made = failed === 0 ? checked : `The page answered ${statusWords(failed)}. ${checked}`;
  if (!worstTag) return { tone: failed === 0 ? 'clean' : 'low', title: 'No findings', text: made };
  const title = tags.length === 1 ? '1 finding' : `${tags.length} findings`;
  const worst =
    tags.length === 1
      ? `It is of ${worstTag.severity} severity.`
      : `The most severe is of ${worstTag.severity} severity.`;
  return { tone: worstTag.severity, title, text: `${worst} ${made}` };
}

/** The HTTP status of a page that answered with an error, which is seldom what was to be checked; 0 = it did not, or the target is a tag. */
function errorAnswered({ target, landings }: Pick<Report, 'target' | 'landings'>): number {
  const status = target.kind === 'url' ? (subjectLanding(landings)?.chain.at(-1)?.status_code ?? 0) : 0;
  return status >= 400 ? status : 0;
}

/** `checks: a, b` names what is missing. */
const missingWords = (error: string): string => {
  const names = error.replace(/^checks: /, '').split(', ');
  const missing = names.map((name) => MISSING[name] ?? name).join(', ');
  return missing === '' ? 'one judgement is missing.' : `judgements are missing (${missing}).`;
};

/** Judgements whose names are not words of their own. */
const MISSING: Record<string, string> = {
  ai_verdict: 'the verdict of the AI model',
  evidence: 'all, as what was captured is gone',
  rules: 'those of the detection rules',
  INTERRUPTED: 'all, as the checks were interrupted again and again',
};

const waitingWords = (retries: number): string =>
  retries === 0
    ? 'The scan is queued and begins as soon as a browser is free.'
    : `An attempt failed for a passing reason. Attempt ${retries + 1} begins shortly.`;
