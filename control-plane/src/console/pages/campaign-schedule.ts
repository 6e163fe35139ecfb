import { isTimezone } from '@adsweep/shared/validation/timezone.ts';
import { type Html, html } from '../../http/pages/html.ts';
import { durationWords } from '../../scanning/reports/words.ts';
import { nextMoment, type SchedulePlan } from '../../scanning/schedules/next-moment.ts';
import { INTERVALS } from '../../scanning/schedules/schedule.ts';
import type { Schemas } from '../api/schemas.ts';
import { card, table } from '../components/tables.ts';
import { agoWords, showTime } from '../components/texts.ts';
import type { Visit } from '../visit.ts';

type Campaign = Schemas['Campaign'];

export const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
/** Firings that are shown ahead. */
const AHEAD = 5;

/** A schedule as a form or a campaign has it, whether or not the API would take it. */
type Schedule = {
  type: string | null;
  weekly: Record<string, (number | string)[]>;
  timezone: string;
  seconds: number | string;
  /** When the interval began to count. */
  anchor: Date;
};

/** When a schedule fires, as the scheduler reckons; null: it does not, or the API would refuse it. */
function planOf({ type, weekly, timezone, seconds, anchor }: Schedule): SchedulePlan | null {
  if (type === 'interval')
    return INTERVALS.some((one) => one === seconds) ? { type: 'interval', seconds: Number(seconds), anchor } : null;
  const days = Object.entries(weekly);
  const isWeek = days.every(([day, hours]) => /^[0-6]$/.test(day) && hours.every(isHour));
  const hasHours = days.some(([, hours]) => hours.length > 0);
  if (type !== 'weekly' || !isWeek || !hasHours || !isTimezone(timezone)) return null;
  return { type: 'weekly', weekly: weekly as Record<string, number[]>, timezone };
}

const isHour = (hour: number | string): boolean => typeof hour === 'number' && hour >= 0 && hour <= 23;

/** The next firings of a schedule after a moment; none, if it never fires. */
export function firingsOf(schedule: Schedule, from: Date): Date[] {
  const plan = planOf(schedule);
  const found: Date[] = [];
  for (let moment = from; plan && found.length < AHEAD; ) {
    moment = nextMoment(plan, moment);
    found.push(moment);
  }
  return found;
}

/** Firings in the time of the campaign and in UTC. */
export function firingTable(firings: Date[], timezone: string, now: Date): Html {
  const local = new Intl.DateTimeFormat('en-GB', {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    timeZone: timezone,
  });
  const isElsewhere = timezone !== 'UTC';
  const rows = firings.map((moment) => [
    local.format(moment),
    ...(isElsewhere ? [showTime(moment.toISOString(), now)] : []),
    agoWords(moment.toISOString(), now),
  ]);
  const columns = [{ label: `In ${timezone}` }, ...(isElsewhere ? [{ label: 'UTC' }] : [])];
  return table('Next firings', [...columns, { label: 'When', kind: 'number' }], rows);
}

/** The schedule of a campaign, and when it fires next. */
export function scheduleCard({ now }: Visit, campaign: Campaign): Html {
  const { schedule_type, schedule_interval_seconds, schedule_weekly, schedule_timezone } = campaign;
  const { last_schedule_problem, next_run_at } = campaign;
  const timezone = schedule_timezone ?? 'UTC';
  const seconds = schedule_interval_seconds ?? 0;
  const next = new Date(next_run_at ?? now);
  // The next firing is one interval after the anchor.
  const anchor = new Date(next.getTime() - seconds * 1_000);
  const schedule = { type: schedule_type, weekly: schedule_weekly ?? {}, timezone, seconds, anchor };
  const from = new Date(Math.max(now.getTime(), next.getTime() - 1));
  const firings = next_run_at === null ? [] : firingsOf(schedule, from);
  const plan =
    schedule_type === 'interval'
      ? `every ${intervalWords(seconds)}`
      : schedule_type === 'weekly'
        ? weekWords(schedule_weekly ?? {})
        : 'not scheduled';
  const problem =
    last_schedule_problem &&
    html`<p class="wrong">The last firing was skipped ${agoWords(last_schedule_problem.at, now)}: ${last_schedule_problem.detail} <code>${last_schedule_problem.code}</code></p>`;
  const times =
    firings.length > 0
      ? firingTable(firings, timezone, now)
      : html`<p class="quiet">${schedule_type === null ? 'It runs when somebody starts it.' : 'The schedule is paused.'}</p>`;
  return card('Schedule', html`<p>${plan}</p>${problem}${times}`);
}

/** `24 h`, `90 min`: intervals are whole minutes. */
export const intervalWords = (seconds: number): string =>
  seconds % 3_600 === 0 ? `${seconds / 3_600} h` : durationWords(seconds * 1_000).replace(/ 0 s$/, '');

const weekWords = (weekly: Record<string, number[]>): string =>
  Object.entries(weekly)
    .filter(([, hours]) => hours.length > 0)
    .map(([day, hours]) => `${DAYS[Number(day)]} at ${hours.map((hour) => `${hour}:00`).join(', ')}`)
    .join('; ');
