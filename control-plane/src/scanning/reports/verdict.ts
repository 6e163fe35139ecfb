import { isFinal } from '@adsweep/shared/scan/scan-status.ts';
import type { Severity } from '../../reference/tags/system-tag.ts';
import type { Report } from './report.ts';
import { failureWords } from './words.ts';

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

/** Whether the page should look again by itself. */
export const isUnderWay = (report: Report): boolean => !isFinal(report.status);

function foundWords({ tags }: Report, made: string): Verdict {
  const [worstTag] = tags;
  if (!worstTag) return { tone: 'clean', title: 'No findings', text: made };
  const title = tags.length === 1 ? '1 finding' : `${tags.length} findings`;
  const worst =
    tags.length === 1
      ? `It is of ${worstTag.severity} severity.`
      : `The most severe is of ${worstTag.severity} severity.`;
  return { tone: worstTag.severity, title, text: `${worst} ${made}` };
}

/** `checks: a, b` names what is missing. */
const missingWords = (error: string): string => {
  const missing = error.replace(/^checks: /, '');
  return missing === '' ? 'one judgement is missing.' : `judgements are missing (${missing}).`;
};

const waitingWords = (retries: number): string =>
  retries === 0
    ? 'The scan is queued and begins as soon as a browser is free.'
    : `An attempt failed for a passing reason. Attempt ${retries + 1} begins shortly.`;
