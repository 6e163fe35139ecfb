import { Type } from 'typebox';

/** Payload of `scanning.scan.completed`: the classification of the scan is finished (spec 6). */
export const ScanCompletedSchema = Type.Object(
  { scan_id: Type.String(), status: Type.Enum(['completed', 'partial']) },
  { additionalProperties: false },
);
