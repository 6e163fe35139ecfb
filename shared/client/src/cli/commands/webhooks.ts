import { messageOf } from '../../adsweep-error.ts';
import type { Schemas } from '../../client.ts';
import { pause } from '../../send-patiently.ts';
import { signWebhook } from '../../verify-webhook.ts';
import { untilAnswered } from '../../wait-for-scan.ts';
import { command, expectUrl, expectWords, UsageError } from '../command.ts';
import { listRows } from '../list-rows.ts';

const POLL_MS = 1_000;
/** An event is listed a moment after it has occurred: each look goes back so far. */
const OVERLAP_MS = 60_000;
const ANSWER_MS = 15_000;
const PAGE = 200;

export const webhooks = command({
  name: 'webhooks',
  args: '',
  summary: 'list webhook endpoints',
  options: {},
  async run(words, _, context) {
    expectWords(words);
    const api = await context.api();
    return listRows(context, await api.listWebhooks(), {
      state: (one) => (one.is_active ? (one.failing_since ? 'failing' : 'active') : 'off'),
      url: (one) => one.url,
      events: (one) => one.event_types.join(',') || 'all',
      id: (one) => one.id,
    });
  },
});

/** Sends what endpoints would get to a receiver on this machine: it asks for new events, so that nothing has to reach this machine from outside. */
export const listen = command({
  name: 'webhooks listen',
  args: '',
  summary: 'send new events to a receiver that is being developed, until Ctrl-C',
  options: {
    forward: { type: 'string', short: 'f', means: 'the URL of the receiver, such as http://localhost:3000/events' },
    events: { type: 'string', short: 'n', means: 'end after so many events' },
  },
  async run(words, { forward, events = '0' }, { api: client, config, json, terminal }) {
    expectWords(words);
    if (forward === undefined) throw new UsageError('--forward is missing');
    expectUrl(forward, '--forward');
    if (!/^\d+$/.test(events)) throw new UsageError('--events must be a number');
    const secret = config.webhookSecret ?? newSecret();
    // One that is no secret is refused now, not at the first event.
    await signWebhook(secret, '', new Date(), '');
    const api = await client();
    // By the times of events alone: the clock of this machine may be wrong.
    const [newest] = (await api.listWebhooksEvents({ limit: PAGE })).items;
    let latest = newest ? Date.parse(newest.timestamp) : null;
    const read = (): Promise<Event[]> =>
      untilAnswered(async () => {
        const from = latest === null ? {} : { from_ts: new Date(latest - OVERLAP_MS).toISOString() };
        const found: Event[] = [];
        for await (const event of api.listWebhooksEvents.each({ ...from, limit: PAGE })) found.push(event);
        return found;
      });
    // Those that are there already are not new.
    const seen = new Set(newest ? (await read()).map(({ id }) => id) : []);
    let sent = 0;
    terminal.note(`Forwarding to ${forward}, signed with ${config.webhookSecret ? 'ADSWEEP_WEBHOOK_SECRET' : secret}`);

    for (; ; await pause(POLL_MS))
      for (const { id, type, timestamp, data } of (await read()).sort(inOrder)) {
        if (seen.has(id)) continue;
        seen.add(id);
        latest = Math.max(latest ?? 0, Date.parse(timestamp));
        // The body of a delivery: the list says of an event what became of it besides.
        const body = { type, timestamp, data };
        const answer = await send(forward, secret, id, JSON.stringify(body));
        if (json) terminal.line({ id, ...body, answer });
        else terminal.print(`${timestamp} ${type} ${String(data.scan_id)}: ${answer}`);
        sent += 1;
        if (sent === Number(events)) return 0;
      }
  },
});

type Event = Schemas['Event'];

/** As they occurred; `sequence` orders the events of a scan that occurred together. */
function inOrder(one: Event, other: Event): number {
  return (
    Date.parse(one.timestamp) - Date.parse(other.timestamp) || Number(one.data.sequence) - Number(other.data.sequence)
  );
}

/** The status that a receiver answers, or why it does not. */
async function send(url: string, secret: string, id: string, body: string): Promise<string> {
  const headers = { 'content-type': 'application/json', ...(await signWebhook(secret, id, new Date(), body)) };
  try {
    const signal = AbortSignal.timeout(ANSWER_MS);
    const answer = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal });
    // Nothing else would end a body that nobody reads, and its connection.
    await answer.body?.cancel();
    return String(answer.status);
  } catch (error) {
    return messageOf(error);
  }
}

const newSecret = (): string => `whsec_${Buffer.from(crypto.getRandomValues(new Uint8Array(24))).toString('base64')}`;
