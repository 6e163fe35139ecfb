import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const ANSWER_MS = 5_000;
/** How long a Redis may say nothing at all before its start counts as failed. */
const SILENCE_MS = 30_000;
const TELL_EVERY_MS = 2_000;

/**
 * Waits until the Redis at a unix socket has loaded its data, however long that takes, and says how far it is. `goesOn`: whether its
 * process is alive; when that is over, so is the wait. Throws when it has not answered for `silenceMs` milliseconds.
 */
export async function untilLoaded(
  socket: string,
  goesOn: () => boolean,
  say: (text: string) => void,
  silenceMs = SILENCE_MS,
): Promise<void> {
  let heardAt = Date.now();
  let toldAt = Date.now();
  while (goesOn()) {
    const answer = await ask(socket);
    if (answer === 'ready') return;
    if (answer !== null) heardAt = Date.now();
    if (Date.now() - heardAt > silenceMs) throw new Error(`it has not answered for ${silenceMs / 1000} s`);
    if (answer !== null && Date.now() - toldAt > TELL_EVERY_MS) {
      toldAt = Date.now();
      say(`  redis is loading its data: ${progressOf(answer)}`);
    }
    await sleep(answer === null ? 10 : 100);
  }
}

/** From the section `persistence` of INFO, as a Redis that loads gives it. */
function progressOf(info: string): string {
  const [, percent = '0'] = /loading_loaded_perc:([\d.]+)/.exec(info) ?? [];
  const [, seconds = '?'] = /loading_eta_seconds:(\d+)/.exec(info) ?? [];
  return `${Math.floor(Number(percent))} %, about ${seconds} s to go`;
}

/** `ready`, what a Redis that still loads says about that, or null where none answers. */
function ask(socket: string): Promise<string | null> {
  return new Promise((resolve) => {
    const connection = connect(socket, () => connection.write('PING\r\nINFO persistence\r\n'));
    let said = '';
    const answer = (what: string | null) => {
      connection.destroy();
      resolve(what);
    };
    connection.setTimeout(ANSWER_MS, () => answer(null));
    connection.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (said.startsWith('+PONG')) answer('ready');
      // The INFO that follows may come from a Redis that has finished in between: then it says nothing of loading.
      else if (/loading_eta_seconds:\d+|\r\nloading:0/.test(said)) answer(said);
    });
    connection.once('error', () => answer(null));
    connection.once('end', () => answer(null));
  });
}
