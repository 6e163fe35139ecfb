import { withDeadline } from '@adsweep/shared/service/with-deadline.ts';
import type { CDPSession, Page } from 'playwright-core';
import { COMMAND_MS } from '../devtools/devtools.ts';
import { FRAMES_MAX } from '../session/budgets.ts';

/** Quanta of 128 frames that a processor is asked for: some begin with silence. */
const QUANTA = 50;
/** Worklets of one target that are asked. */
const WORKLETS_MAX = 10;

/**
 * The targets of a tab, itself or frames of other sites in it, in which an audio worklet makes sound of silence.
 * Chromium suspends it without a gesture, so its processors are asked for some output.
 */
export async function soundingTargets(page: Page): Promise<Set<string>> {
  const owners = [page, ...page.frames().slice(1, FRAMES_MAX)];
  const sounding = new Set<string>();
  for (const owner of owners) {
    // A frame of the same site has no session of its own.
    const session = await page
      .context()
      .newCDPSession(owner)
      .catch(() => null);
    // A target that was closed meanwhile is silent.
    const targetId = session && (await soundingTarget(session).catch(() => null));
    if (targetId) sounding.add(targetId);
  }
  return sounding;
}

/** The id of a session's target if one of its worklets makes sound. Playwright detaches from worklets. */
async function soundingTarget(session: CDPSession): Promise<string | null> {
  try {
    const { targetInfo } = await session.send('Target.getTargetInfo');
    const worklets: string[] = [];
    session.on('Target.attachedToTarget', ({ sessionId }) => void worklets.push(sessionId));
    await session.send('Target.setAutoAttach', {
      autoAttach: true,
      waitForDebuggerOnStart: false,
      flatten: false,
      filter: [{ type: 'worklet' }],
    });
    for (const worklet of worklets.slice(0, WORKLETS_MAX))
      if (await makesSound(session, worklet)) return targetInfo.targetId;
    return null;
  } finally {
    await session.detach();
  }
}

async function makesSound(session: CDPSession, worklet: string): Promise<boolean> {
  const expression = 'globalThis.AudioWorkletProcessor?.prototype';
  const { result } = await ask(session, worklet, 'Runtime.evaluate', { expression });
  // A worklet of another kind, such as one that paints.
  if (!result.objectId) return false;
  const { objects } = await ask(session, worklet, 'Runtime.queryObjects', { prototypeObjectId: result.objectId });
  const functionDeclaration = `function () { return (${makeSound})(this, ${QUANTA}); }`;
  const call = { objectId: objects.objectId, functionDeclaration, returnByValue: true };
  return (await ask(session, worklet, 'Runtime.callFunctionOn', call)).result.value === true;
}

type Answers = {
  'Runtime.evaluate': { result: { objectId?: string } };
  'Runtime.queryObjects': { objects: { objectId: string } };
  'Runtime.callFunctionOn': { result: { value?: unknown } };
};

/** Sends a command to a target that is attached without a session of the connection. */
function ask<C extends keyof Answers>(session: CDPSession, sessionId: string, method: C, params: object) {
  const answer = new Promise<Answers[C]>((resolve, reject) => {
    session.on('Target.receivedMessageFromTarget', (event) => {
      if (event.sessionId !== sessionId) return;
      const { id, result, error } = JSON.parse(event.message);
      if (id !== ID_OF[method]) return;
      if (error) reject(new Error(error.message));
      else resolve(result);
    });
  });
  const message = JSON.stringify({ id: ID_OF[method], method, params });
  const sent = session.send('Target.sendMessageToTarget', { sessionId, message });
  return withDeadline(
    Promise.all([answer, sent]).then(([result]) => result),
    COMMAND_MS,
    'a worklet',
  );
}

/** Each target is sent each command once. */
const ID_OF: Record<keyof Answers, number> = {
  'Runtime.evaluate': 1,
  'Runtime.queryObjects': 2,
  'Runtime.callFunctionOn': 3,
};

type Processor = {
  process(inputs: Float32Array[][], outputs: Float32Array[][], parameters: object): boolean;
  constructor: { parameterDescriptors?: readonly { name: string; defaultValue?: number }[] };
};

/** Runs in the worklet: whether one of its processors outputs something for inputs to which nothing is connected. */
function makeSound(found: Processor[], quanta: number): boolean {
  const isSounding = (processor: Processor): boolean => {
    const parameters: Record<string, Float32Array> = {};
    for (const { name, defaultValue = 0 } of processor.constructor.parameterDescriptors ?? [])
      parameters[name] = new Float32Array([defaultValue]);
    for (let quantum = 0; quantum < quanta; quantum++) {
      const channels = [new Float32Array(128), new Float32Array(128)];
      processor.process([[]], [channels], parameters);
      if (channels.some((channel) => channel.some((sample) => Math.abs(sample) > 0.001))) return true;
    }
    return false;
  };
  return found.some((processor) => {
    // A prototype is no processor.
    if (Object.hasOwn(processor, 'constructor')) return false;
    try {
      return isSounding(processor);
    } catch {
      // What needs an input is silent without one.
      return false;
    }
  });
}
