import type { Middleware } from 'koa';
import { allowOrigins } from '../http/allow-origins.ts';
import { FORMS, type FormName } from './form-submission.ts';

/** The path of each form, and the path that earlier websites use. */
export const FORM_PATHS: { path: string; form: FormName; isLegacy: boolean }[] = FORMS.flatMap((form) => [
  { path: `/api/forms/${form}`, form, isLegacy: false },
  { path: `/api/v1/${form}`, form, isLegacy: true },
]);

/** When `/api/forms` replaced the legacy paths (RFC 9745), in seconds of Unix time. */
const DEPRECATED_AT = Date.UTC(2026, 10, 1) / 1000;

/** Headers of the forms' answers, refusals too: which pages may read them, and what replaces a legacy path. */
export function formHeaders(origins: readonly string[]): Middleware[] {
  const successors = new Map(FORM_PATHS.flatMap(({ path, form, isLegacy }) => (isLegacy ? [[path, form]] : [])));
  return [
    allowOrigins(
      FORM_PATHS.map(({ path }) => path),
      origins,
    ),
    async (context, next) => {
      const form = successors.get(context.path);
      if (form !== undefined) {
        context.set('Deprecation', `@${DEPRECATED_AT}`);
        context.set('Link', `</api/forms/${form}>; rel="successor-version"`);
      }
      await next();
    },
  ];
}
