import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import { withDeadline } from '@adsweep/shared/service/with-deadline.ts';
import { chromiumEnvironment } from '../config.ts';
import { chromiumFlags } from './chromium-flags.ts';
import { makeProfile, profilePrefix, removeProfile } from './chromium-profile.ts';
import { majorOf } from './client-hints.ts';
import type { Chromium } from './locate-chromium.ts';

/**
 * A Chromium, and the two ends of its DevTools connection: JSON messages that each end with a zero byte, of which one
 * write is one. `pid` null: its processes are not on this machine.
 */
export type ConnectedChromium = {
  pid: number | null;
  write: Writable;
  read: Readable;
  /** Ends the browser and everything it started, by force if necessary; waits until it is gone. Never throws. */
  kill(): Promise<void>;
};

const START_DEADLINE_MS = 20_000;
const ORDERLY_EXIT_MS = 1_000;
const EXIT_DEADLINE_MS = 5_000;
/** The id of the first command; its response only shows that Chromium has started. */
const HELLO_ID = 2_147_483_647;

/**
 * Starts Chromium in its own process group, under its own account, with a fresh profile that is also its home. Throws
 * when it does not come up in time. Its profile is removed with it.
 */
export async function startChromium(chromium: Chromium, logger: Logger): Promise<ConnectedChromium> {
  const { path, version, account, sandbox, gatewayHosts } = chromium;
  const profileDir = await makeProfile(profilePrefix(process.pid), account);
  const child = spawn(path, chromiumFlags(profileDir, majorOf(version), sandbox, gatewayHosts), {
    // When root switches to another user id, the system drops all supplementary groups and capabilities.
    ...account,
    env: chromiumEnvironment(profileDir),
    cwd: profileDir,
    // A process group of its own: it can be killed as a whole, and a Ctrl-C at the terminal does not reach it.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
  });
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  const kill = async () => {
    // When its pipe is closed, Chromium exits in an orderly way and reaps its children; what remains after a second is
    // killed.
    (child.stdio[3] as Writable | null)?.destroy();
    await withDeadline(exited, ORDERLY_EXIT_MS, 'the orderly end of Chromium').catch(() => undefined);
    killGroup(child, logger);
    await withDeadline(exited, EXIT_DEADLINE_MS, 'the end of Chromium').catch((cause) =>
      logger.error({ cause, pid: child.pid }, 'Chromium did not end'),
    );
    await removeProfile(profileDir).catch((cause) =>
      logger.warn({ cause, profileDir }, 'a browser profile was not removed'),
    );
  };
  try {
    await withDeadline(started(child), START_DEADLINE_MS, 'the start of Chromium');
    const [, , , write, read] = child.stdio as [null, null, Readable, Writable, Readable];
    return { pid: child.pid as number, write, read, kill };
  } catch (error) {
    await kill();
    throw error;
  }
}

/** Resolves at Chromium's first response on its pipe; rejects with the start of its stderr when it exits before. */
function started(child: ChildProcess): Promise<void> {
  const [, , , write, read] = child.stdio as [null, null, Readable, Writable, Readable];
  return new Promise((resolve, reject) => {
    let said = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      if (said.length < 10_000) said += text;
    });
    child.once('error', reject);
    child.once('exit', (code, signal) => reject(new Error(`Chromium ended at its start (${code ?? signal}): ${said}`)));
    // When the pipe breaks, Chromium has exited, and the exit event reports why.
    write.on('error', () => undefined).write(`${JSON.stringify({ id: HELLO_ID, method: 'Browser.getVersion' })}\0`);
    const answered = () => {
      // `readable` is emitted at the end of a stream too.
      if (read.readableLength === 0) return;
      read.off('readable', answered);
      resolve();
    };
    read.on('readable', answered);
  });
}

function killGroup(child: ChildProcess, logger: Logger): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ESRCH')
      logger.error({ cause, pid: child.pid }, 'Chromium was not killed');
  }
}
