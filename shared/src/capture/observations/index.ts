import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import {
  CreativeInteractiveObservation,
  DialogBoxObservation,
  FormObservation,
  PlacementObservation,
  PreselectedObservation,
  PriceObservation,
} from './content.ts';
import { AutosoundObservation, DialogsObservation, UnpromptedCallObservation } from './interruption.ts';
import {
  ChildFloodObservation,
  FingerprintObservation,
  FrameWeightObservation,
  MainThreadObservation,
  WorkerLoadObservation,
} from './load.ts';
import {
  AutoDownloadObservation,
  AutoRedirectObservation,
  BackButtonObservation,
  InvalidCertificateObservation,
  PopupsObservation,
} from './navigation.ts';

/** A fact that the browser recorded; detectors judge it. */
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

/** The observations of one kind, in order. */
export const observationsOf = <K extends ObservationKind>(all: readonly Observation[], kind: K): ObservationOf<K>[] =>
  all.filter((observation): observation is ObservationOf<K> => observation.kind === kind);

const compiled = Compile(ObservationSchema);

/** The observations that match their kind's schema; another version of a node may have written a stored capture. */
export const validObservations = (all: readonly unknown[]): Observation[] =>
  all.filter((observation): observation is Observation => compiled.Check(observation));
