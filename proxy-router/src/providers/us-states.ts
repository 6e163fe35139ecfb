const NAMES =
  'Alabama AL,Alaska AK,Arizona AZ,Arkansas AR,California CA,Colorado CO,Connecticut CT,Delaware DE,District of Columbia DC,Florida FL,' +
  'Georgia GA,Hawaii HI,Idaho ID,Illinois IL,Indiana IN,Iowa IA,Kansas KS,Kentucky KY,Louisiana LA,Maine ME,Maryland MD,' +
  'Massachusetts MA,Michigan MI,Minnesota MN,Mississippi MS,Missouri MO,Montana MT,Nebraska NE,Nevada NV,New Hampshire NH,' +
  'New Jersey NJ,New Mexico NM,New York NY,North Carolina NC,North Dakota ND,Ohio OH,Oklahoma OK,Oregon OR,Pennsylvania PA,' +
  'Rhode Island RI,South Carolina SC,South Dakota SD,Tennessee TN,Texas TX,Utah UT,Vermont VT,Virginia VA,Washington WA,' +
  'West Virginia WV,Wisconsin WI,Wyoming WY';

const plain = (name: string): string => name.toLowerCase().replace(/[^a-z]/g, '');

const CODES = new Map(
  NAMES.split(',').map((line) => [plain(line.slice(0, -3)), line.slice(-2).toLowerCase()] as const),
);

/** The postal code of a state of the US in lower case (`tx`), by its name in any spelling; what is none is answered as it is. Pure. */
export const stateCode = (name: string): string => CODES.get(plain(name)) ?? name;
