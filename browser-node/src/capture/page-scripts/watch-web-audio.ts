import type { Natives } from './natives.ts';
import type { BeginAttempt } from './sound-attempts.ts';

/** Runs in the page: sources of Web Audio that are started by script, and the volume at which they reach the speakers. */
export function watchWebAudio({ getter, secret, precede, watch, isUsers }: Natives, begin: BeginAttempt): void {
  type Sinks = { sink: unknown; next: Sinks | undefined };
  const sinks = secret<Sinks>();
  const gainOf = getter<AudioParam>(GainNode.prototype, 'gain');
  const amountOf = getter<number>(AudioParam.prototype, 'value');
  const contextOf = getter<BaseAudioContext>(AudioNode.prototype, 'context');
  const channelsOf = getter<number>(AudioDestinationNode.prototype, 'maxChannelCount');
  const latencyOf = getter<number>(AudioContext.prototype, 'baseLatency');
  const stateOf = getter<string>(BaseAudioContext.prototype, 'state');
  const isNode = (self: unknown): self is object => contextOf(self) !== undefined;
  /** 0 = not at all. Offline contexts, by which pages tell devices apart, reach no speaker. */
  const loudness = (node: unknown, depth = 0): number => {
    if (channelsOf(node) !== undefined) return latencyOf(contextOf(node)) === undefined ? 0 : 1;
    if (!isNode(node) || depth > 20) return 0;
    const gain = amountOf(gainOf(node)) ?? 1;
    let loudest = 0;
    for (let at = sinks.of(node); at; at = at.next) {
      const reached = loudness(at.sink, depth + 1) * (gain < 0 ? -gain : gain);
      if (reached > loudest) loudest = reached;
    }
    return loudest;
  };
  const starts = (self: unknown) => {
    if (!isNode(self) || isUsers()) return;
    const report = begin('audio_context');
    watch(() => {
      const volume = loudness(self);
      const running = stateOf(contextOf(self)) === 'running';
      report(false, volume, running, volume > 0);
      return volume > 0 && running;
    });
  };
  precede(AudioNode.prototype, 'connect', (self, sink) => {
    if (isNode(self)) sinks.keep(self, { sink, next: sinks.of(self) });
  });
  precede(AudioScheduledSourceNode.prototype, 'start', starts);
  precede(AudioBufferSourceNode.prototype, 'start', starts);
}
