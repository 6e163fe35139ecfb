import { type Static, Type } from 'typebox';
import { Count, OPEN } from './count.ts';

/** Facts the browser can see of a landing; judging them is detection's work. */
export const OBSERVATION_KINDS = ['back_button', 'autosound', 'invalid_certificate'] as const;
export type ObservationKind = (typeof OBSERVATION_KINDS)[number];

const FACTS_MAX = 20;

/**
 * A fact before judgement. `facts` by kind:
 * - back_button: `{ pushes, copies, popstate_listener, probe_url }` - entries the page and its frames added to the history without a
 *   click, those among them that show the same URL as before, whether one of them listens for Back, and where going Back led
 *   ('' = not probed or nowhere new).
 * - autosound: `{ via, muted, volume, started, has_audio }` - the call that tried (`play`, `autoplay`, `audio_context`) and what it played,
 *   at its loudest; of each tab the loudest attempts.
 * - invalid_certificate: `{ host, reason }`.
 */
export const ObservationSchema = Type.Object(
  {
    kind: Type.Enum(OBSERVATION_KINDS),
    landing: Count,
    url: Type.String(),
    facts: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()]), {
      maxProperties: FACTS_MAX,
    }),
  },
  OPEN,
);
export type Observation = Static<typeof ObservationSchema>;
