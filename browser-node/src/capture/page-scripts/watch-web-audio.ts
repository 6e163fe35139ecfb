import type { Natives } from './natives.ts';
import type { TellSound } from './watch-media.ts';

/** Runs in the page: sources of Web Audio that are started by script, and how loud they reach the speakers. */
export function watchWebAudio({ getter, secret, precede, later, nextId, isUsers }: Natives, tell: TellSound): void {
  type Sinks = { sink: unknown; next: Sinks | undefined };
  const sinks = secret<Sinks>();
  const gainOf = getter<AudioParam>(GainNode.prototype, 'gain');
  const amountOf = getter<number>(AudioParam.prototype, 'value');
  const contextOf = getter<BaseAudioContext>(AudioNode.prototype, 'context');
  const stateOf = getter<string>(BaseAudioContext.prototype, 'state');
  /** 0 = not at all. Offline contexts, by which pages tell devices apart, reach no speaker. */
  const loudness = (node: unknown, depth = 0): number => {
    if (node instanceof AudioDestinationNode) return contextOf(node) instanceof AudioContext ? 1 : 0;
    if (!(node instanceof AudioNode) || depth > 20) return 0;
    const gain = node instanceof GainNode ? amountOf(gainOf(node)) : 1;
    let loudest = 0;
    for (let at = sinks.of(node); at; at = at.next) {
      const reached = loudness(at.sink, depth + 1) * (gain < 0 ? -gain : gain);
      if (reached > loudest) loudest = reached;
    }
    return loudest;
  };
  const starts = (self: unknown) => {
    if (!(self instanceof AudioNode) || isUsers()) return;
    const id = nextId();
    later(() => {
      const volume = loudness(self);
      tell(id, 'audio_context', false, volume, stateOf(contextOf(self)) === 'running', volume > 0);
    });
  };
  precede(AudioNode.prototype, 'connect', (self, sink) => {
    if (self instanceof AudioNode) sinks.keep(self, { sink, next: sinks.of(self) });
  });
  precede(AudioScheduledSourceNode.prototype, 'start', starts);
  precede(AudioBufferSourceNode.prototype, 'start', starts);
}
