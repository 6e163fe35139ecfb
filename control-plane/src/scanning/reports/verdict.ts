import { subjectLanding } from '@adsweep/shared/capture/capture.ts';
import { isFinal } from '@adsweep/shared/scan/scan-status.ts';
import type { Severity } from '../../reference/tags/system-tag.ts';
import { worstOf } from './ad-words.ts';
import type { Report, ReportAdScan, ReportSweep } from './report.ts';
import { counted, failureWords, statusWords } from './words.ts';

/** The summary at the top of a report. `tone` selects its colour and icon; `busy`: the scan has not ended. */
export type Verdict = { tone: 'busy' | 'clean' | 'failed' | 'cancelled' | Severity; title: string; text: string };

export function verdictOf(report: Report): Verdict {
  switch (report.status) {
    case 'pending':
      return { tone: 'busy', title: 'Waiting for a browser', text: waitingWords(report.retries) };
    case 'running':
      return { tone: 'busy', title: 'Loading the target', text: 'A browser is visiting the target right now.' };
    case 'crawled':
    case 'checking':
      return { tone: 'busy', title: 'Analysing the capture', text: 'The target was loaded. Its analysis is running.' };
    case 'rechecking':
      return {
        tone: 'busy',
        title: 'Analysing again',
        text: 'The captured evidence is being analysed again. The findings appear at the end.',
      };
    case 'failed':
      return { tone: 'failed', title: 'The scan failed', text: failureWords(report.error) };
    case 'cancelled':
      return {
        tone: 'cancelled',
        title: 'The scan was cancelled',
        text: 'It was cancelled while it waited for a browser.',
      };
    case 'completed':
      return withAds(report, foundWords(report, completeWords(report)));
    case 'partial':
      return withAds(report, partly(foundWords(report, missingWords(report))));
  }
}

/** Whether the scan or that of an ad of its page is in progress, so that its page should reload itself. */
export const isInProgress = (report: Report): boolean => !isFinal(report.status) || openScans(report) > 0;

const scansOf = ({ sweep }: Report): ReportAdScan[] => (sweep?.ads ?? []).flatMap(({ scan }) => scan ?? []);
const openScans = (report: Report): number => scansOf(report).filter(({ status }) => !isFinal(status)).length;

/** The verdict of a sweep: that of its page, and of the scans of its ads. */
function withAds(report: Report, page: Verdict): Verdict {
  const { sweep, tags } = report;
  if (!sweep) return page;
  const scans = scansOf(report);
  const open = openScans(report);
  const done = scans.length - open;
  if (open > 0) {
    const text = `The page is finished. ${adsWords(sweep)}`;
    return { tone: 'busy', title: `${done} of ${scans.length} ads scanned`, text };
  }
  const found = scans.filter((scan) => scan.tags.length > 0);
  const all = `${adsWords(sweep)} ${failedWords(scans)}`.trim();
  if (found.length === 0) return { ...page, text: `${all} ${page.text}` };
  const title = `${found.length} of ${counted(scans.length, 'ads')} ${found.length === 1 ? 'has' : 'have'} findings`;
  const worst = worstOf([...tags, ...found.flatMap((scan) => scan.tags)])!;
  const own =
    tags.length === 0 ? 'The page itself has none.' : `The page itself has ${counted(tags.length, 'findings')}.`;
  return { tone: worst, title, text: `The highest severity is ${worst}. ${own} ${all}` };
}

function adsWords({ ads }: ReportSweep): string {
  if (ads.length === 0) return 'No ad was found on the page.';
  const left = ads.filter(({ scan }) => scan === null).length;
  return `${counted(ads.length, 'ads')} ${ads.length === 1 ? 'was' : 'were'} found${left > 0 ? `, ${left} of them not scanned` : ''}.`;
}

function failedWords(scans: readonly ReportAdScan[]): string {
  const failed = scans.filter(({ status }) => status === 'failed' || status === 'cancelled').length;
  return failed === 0 ? '' : failed === 1 ? 'The scan of one ad failed.' : `The scans of ${failed} ads failed.`;
}

function foundWords({ tags, ...seen }: Report, analysis: string): Verdict {
  const [worstTag] = tags;
  const failed = errorStatusOf(seen);
  const state = failed === 0 ? analysis : `The page returned ${statusWords(failed)}. ${analysis}`;
  if (!worstTag) return { tone: failed === 0 ? 'clean' : 'low', title: 'No findings', text: state };
  const title = tags.length === 1 ? '1 finding' : `${tags.length} findings`;
  const worst =
    tags.length === 1 ? `Its severity is ${worstTag.severity}.` : `The highest severity is ${worstTag.severity}.`;
  return { tone: worstTag.severity, title, text: `${worst} ${state}` };
}

/** The HTTP error status that a page returned instead of its content; 0: it returned none, or an ad is scanned. */
function errorStatusOf({ target, landings }: Pick<Report, 'target' | 'landings'>): number {
  const status = target.kind === 'url' ? (subjectLanding(landings)?.chain.at(-1)?.status_code ?? 0) : 0;
  return status >= 400 ? status : 0;
}

/** A scan without findings that lacks something is not clean. */
const partly = (verdict: Verdict): Verdict =>
  verdict.tone === 'clean' ? { ...verdict, tone: 'low', title: 'No findings in what was checked' } : verdict;

const completeWords = ({ limits }: Report): string =>
  limits.length === 0
    ? 'The analysis is complete.'
    : 'The analysis of what was captured is complete. The limits of the scan are listed below.';

/** What a partial scan lacks, from its error `checks: a, b` and its limits. */
const missingWords = ({ error, limits }: Report): string => {
  const names = error.replace(/^checks: /, '').split(', ');
  const missing = names.map(missingWord).join(', ');
  const listed = limits.some(({ checks }) => checks !== null) ? ' What could not be captured is listed below.' : '';
  return `The analysis is incomplete.${missing === '' ? '' : ` Missing: ${missing}.`}${listed}`;
};

/** A missing part in words. What a model was asked for says how that ended: without an answer, or with a refusal. */
function missingWord(name: string): string {
  const [, part = name, end] = /^(.*) \((none|refused)\)$/.exec(name) ?? [];
  return `${MISSING.get(part) ?? part}${end === 'refused' ? ' (it refused)' : ''}`;
}

/** Descriptions of the missing parts whose names do not explain themselves. */
const MISSING = new Map<string, string>(
  Object.entries({
    ai_verdict: 'the verdict of the AI model',
    'ai_verdict (without the screenshot)': 'the screenshot in the question to the AI model',
    evidence: 'all results, because the captured evidence was removed',
    rules: 'the detection rules',
    INTERRUPTED: 'all results, because the analysis was interrupted repeatedly',
  }),
);

const waitingWords = (retries: number): string =>
  retries === 0
    ? 'The scan is queued and starts as soon as a browser is free.'
    : `An attempt failed and is repeated. Attempt ${retries + 1} starts shortly.`;
