/** An amount of money: a sign or code of a currency, or its name after a digit. Page scripts get its source. */
export const MONEY =
  /[€$£¥₹₽₺₩₴฿₫₦]|\b(?:EUR|USD|GBP|CHF|PLN|INR|BRL|ZAR|AED|SAR|QAR|EGP|NGN|KES|TRY|RUB|SEK|NOK|DKK|CZK|HUF|RON|MXN)\b|\d\s?(?:zł|Kč|kr|руб|(?i:euros?|dollars?|TL)\b)/;
