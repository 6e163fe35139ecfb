import { type Static, Type } from 'typebox';
import { Count, OPEN, Text } from './fields.ts';
import { HopSchema } from './hop.ts';

/**
 * The creative of an ad tag or VAST tag as it was rendered. `url`: the innermost document that shows it;
 * `redirect_chain` leads to that document, whose hop is the last, and is empty where the creative requested nothing
 * (spec 2.1). `width` and `height` in CSS pixels, 0 = nothing was rendered. `page_url` and `page_title` are those of
 * the page that it stood on. Its files are artifacts with names of their own.
 */
export const CreativeSchema = Type.Object(
  {
    url: Text,
    width: Count,
    height: Count,
    page_url: Text,
    page_title: Text,
    redirect_chain: Type.Array(HopSchema, { maxItems: 200 }),
  },
  OPEN,
);
export type CapturedCreative = Static<typeof CreativeSchema>;

/** Whether anything of it could be seen. */
export const isRendered = ({ width, height }: Pick<CapturedCreative, 'width' | 'height'>): boolean =>
  width > 0 && height > 0;
