import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { AutoDownloadObservation } from './auto-download.ts';
import { AutoRedirectObservation } from './auto-redirect.ts';
import { AutosoundObservation } from './autosound.ts';
import { BackButtonObservation } from './back-button.ts';
import { ChildFloodObservation } from './child-flood.ts';
import { CreativeInteractiveObservation } from './creative-interactive.ts';
import { DialogBoxObservation } from './dialog-box.ts';
import { DialogsObservation } from './dialogs.ts';
import { FingerprintObservation } from './fingerprint.ts';
import { FormObservation } from './form.ts';
import { FrameWeightObservation } from './frame-weight.ts';
import { InvalidCertificateObservation } from './invalid-certificate.ts';
import { MainThreadObservation } from './main-thread.ts';
import { PlacementObservation } from './placement.ts';
import { PopupsObservation } from './popups.ts';
import { PreselectedObservation } from './preselected.ts';
import { PriceObservation } from './price.ts';
import { UnpromptedCallObservation } from './unprompted-call.ts';
import { WorkerLoadObservation } from './worker-load.ts';

/** A fact that the browser saw, before judgement. Judging it is the task of detection. */
export const ObservationSchema = Type.Union([
  BackButtonObservation,
  AutosoundObservation,
  InvalidCertificateObservation,
  AutoRedirectObservation,
  AutoDownloadObservation,
  DialogsObservation,
  UnpromptedCallObservation,
  PopupsObservation,
  MainThreadObservation,
  WorkerLoadObservation,
  ChildFloodObservation,
  FrameWeightObservation,
  FingerprintObservation,
  FormObservation,
  DialogBoxObservation,
  PriceObservation,
  PreselectedObservation,
  PlacementObservation,
  CreativeInteractiveObservation,
]);
export type Observation = Static<typeof ObservationSchema>;
export type ObservationKind = Observation['kind'];
/** An observation of kind `K`. */
export type ObservationOf<K extends ObservationKind> = Extract<Observation, { kind: K }>;

/** Those of one kind, in their order. */
export const observationsOf = <K extends ObservationKind>(all: readonly Observation[], kind: K): ObservationOf<K>[] =>
  all.filter((observation): observation is ObservationOf<K> => observation.kind === kind);

/** Those that are what their kind says; a stored capture may have been written by another version of a node. */
export const validObservations = (all: readonly unknown[]): Observation[] =>
  all.filter((observation): observation is Observation => Value.Check(ObservationSchema, observation));
