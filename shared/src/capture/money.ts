/** An amount of money: a sign or code of a currency, or its name beside a digit. Page scripts get its source. */
export const MONEY =
  /[€$£¥₹₽₺₩₴฿₫₦]|\b(?:EUR|USD|GBP|CHF|PLN|INR|BRL|ZAR|AED|SAR|QAR|EGP|NGN|KES|TRY|RUB|SEK|NOK|DKK|CZK|HUF|RON|MXN|IDR|VND|THB|MYR|KWD|BHD|OMR|JOD|IQD|GHS|TZS|FCFA)\b|\d\s?(?:zł|Kč|kr|руб|บาท|đ|円|元|원|ريال|دينار|درهم|جنيه|د\.ك|ر\.س|د\.إ|(?i:euros?|dollars?|TL)\b)|\b(?:Rp|RM|K[Ss]h)\.?\s?\d|\bR\d+[.,]\d\d\b/;
