import type { Phrase } from './phrase.ts';
import { asRead } from './seen-page.ts';

/**
 * What scareware says in one language. `devices`: "your computer"; `infected` and `locked`: what it is said to be;
 * `found` and `viruses`: what was found on it; `stay`: "do not close"; `call` with `whom`, and `act` with `soon`: what
 * visitors are pressed to do; `uncertain`: words that make a claim a question, a condition or advice.
 */
type Language = Record<
  'devices' | 'infected' | 'locked' | 'found' | 'viruses' | 'stay' | 'call' | 'whom' | 'act' | 'soon' | 'uncertain',
  string
>;

/** Each of the first words with each of the second ones. */
const pairs = (first: string, second: string, between = ' '): string =>
  first
    .split('|')
    .flatMap((one) => second.split('|').map((other) => `${one}${between}${other}`))
    .join('|');

/** The languages that `scareware-phrases.ts` does not have, by their codes. Words are separated by lines. */
const LANGUAGES: Record<string, Language> = {
  sv: {
    devices: 'din dator|din telefon|din mobil |din enhet|din iphone|din samsung|din android|den här datorn',
    infected: 'infekterad|hackad|smittad|har virus',
    locked: 'har låsts|är låst|har blockerats|är blockerad|har spärrats',
    found: 'hittades|hittats|upptäckt',
    viruses: 'virus|skadlig|trojan',
    stay: 'stäng inte|starta inte om|ignorera inte',
    call: 'ring |kontakta',
    whom: 'support|microsoft|windows|apple|omedelbart|genast| nu',
    act: 'ta bort|rensa|skanna|installera|ladda ner|reparera',
    soon: ' nu|omedelbart|virus|sekunder|minuter',
    uncertain: '?|om din|om du|när din|kan vara|kan ha|skydda|tecken på|hur du',
  },
  da: {
    devices: 'din computer|din telefon|din mobil |din enhed|din iphone|din samsung|din android|denne computer',
    infected: 'inficeret|hacket|smittet|har virus',
    locked: 'er låst|blevet låst|er blokeret|blevet blokeret|blevet spærret',
    found: 'fundet|opdaget|registreret',
    viruses: 'virus|malware|skadelig|trojan',
    stay: 'luk ikke|sluk ikke|genstart ikke|ignorer ikke',
    call: 'ring |kontakt',
    whom: 'support|microsoft|windows|apple|straks|øjeblikkeligt| nu',
    act: 'fjern|rens|scan|installer|download|hent ',
    soon: ' nu|straks|virus|sekunder|minutter',
    uncertain: '?|hvis |når din|kan være|kan have|beskyt|tegn på|hvordan',
  },
  no: {
    devices:
      'datamaskinen din|telefonen din|enheten din|mobilen din|iphonen din|din iphone|din enhet|denne datamaskinen',
    infected: 'infisert|hacket|smittet|har virus',
    locked: 'er låst|blitt låst|er blokkert|blitt blokkert|blitt sperret',
    found: 'funnet|oppdaget',
    viruses: 'virus|skadelig|trojan',
    stay: 'ikke lukk|lukk ikke|ikke slå av|ikke start|ikke ignorer',
    call: 'ring |kontakt',
    whom: 'support|microsoft|windows|apple|straks|umiddelbart| nå',
    act: 'fjern|rens|skann|installer|last ned',
    soon: ' nå|straks|umiddelbart|virus|sekunder|minutter',
    uncertain: '?|hvis |dersom|når |kan være|kan ha|beskytt|tegn på|hvordan',
  },
  fi: {
    devices:
      'tietokoneesi|tietokoneenne|tietokoneeltasi|puhelimesi|puhelimestasi|laitteesi|laitteestasi|iphonesi|tämä tietokone',
    infected: 'saastunut|saastutettu|hakkeroitu|tartunnan',
    locked: 'lukittu|estetty',
    found: 'löydetty|löytyi|havaittu|havaittiin',
    viruses: 'virus|virukse|haittaohjel|troijala',
    stay: 'älä sulje|älä sammuta|älä käynnistä|älkää sulkeko|älä ohita',
    call: 'soita|ota yhteyttä',
    whom: 'tuki|tukeen|microsoft|windows|apple|heti|välittömästi',
    act: 'poista|puhdista|asenna|lataa|skannaa|korjaa',
    soon: 'heti|nyt|välittömästi|virus|virukset|sekun|minuut',
    uncertain: '?|jos |saattaa|voi olla|suoja|miten',
  },
  cs: {
    devices: `${pairs('váš|tvůj|tento', 'počítač|telefon|mobil |iphone|systém|samsung')}|vašem počítači|vašem telefonu|vaše zařízení|vašem zařízení`,
    infected: 'napaden|infikován|nakažen|zavirován|hacknut',
    locked: 'zablokován|uzamčen|zamčen',
    found: 'nalezen|zjištěn|detekován|objeven',
    viruses: 'virus|viry|virů|malware|trojsk',
    stay: 'nezavírejte|nevypínejte|nerestartujte|neignorujte',
    call: 'zavolejte|volejte|kontaktujte',
    whom: 'podpor|microsoft|windows|apple|okamžitě|ihned',
    act: 'odstra|vyčist|nainstal|stáhn|oprav',
    soon: 'nyní|ihned|okamžitě|virus|viry|virů|sekund|minut',
    uncertain: '?|pokud|jestli|když|může|mohl|chraň|chrán|jak ',
  },
  sk: {
    devices: `${pairs('váš|tvoj|tento', 'počítač|telefón|mobil |iphone|systém|samsung')}|vašom počítači|vašom telefóne|vaše zariadenie|vašom zariadení`,
    infected: 'napadnut|infikovan|nakazen|hacknut',
    locked: 'zablokovan|uzamknut|zamknut',
    found: 'nájden|zisten|detegovan|odhalen',
    viruses: 'vírus|malvér|malware|trójsk',
    stay: 'nezatvárajte|nevypínajte|nereštartujte|neignorujte',
    call: 'zavolajte|volajte|kontaktujte',
    whom: 'podpor|microsoft|windows|apple|okamžite|ihneď',
    act: 'odstrá|vyčist|nainštal|stiahn|oprav',
    soon: 'teraz|ihneď|okamžite|vírus|sekúnd|minút',
    uncertain: '?|ak |keď|môže|mohol|chráň|chrán|ako ',
  },
  hu: {
    devices: 'számítógépe|telefonja|telefonod|eszköze|készüléke|iphone-ja|iphone-od|ez a számítógép',
    infected: 'fertőzött|fertőződött|feltörték|vírusos',
    locked: 'zárolva|zárolták|zárolt |letiltották|letiltva|blokkolták',
    found: 'találtunk|találtak|találtunk|észlel',
    viruses: 'vírus|malware|trójai|kártevő',
    stay: 'ne zárja be|ne zárd be|ne kapcsolja ki|ne indítsa újra|ne hagyja figyelmen',
    call: 'hívja|hívd|lépjen kapcsolatba',
    whom: 'ügyfélszolgálat|támogatás|microsoft|windows|apple|azonnal|most',
    act: 'távolítsa|törölje|tisztítsa|telepítse|töltse le',
    soon: 'most|azonnal|vírus|másodperc|percen',
    uncertain: '?|ha |lehet|véd|hogyan|amikor',
  },
  ro: {
    devices: `${pairs('computerul|calculatorul|telefonul|dispozitivul|iphone-ul|sistemul', 'tău|dumneavoastră')}|acest computer|acest pc`,
    infected: 'infectat|virusat|hackuit|spart de hackeri',
    locked: 'blocat',
    found: 'detectat|găsit',
    viruses: 'virus|viruși|malware|troian',
    stay: 'nu închide|nu opri|nu reporni|nu ignora',
    call: 'sunați|sună |apelați|contactați',
    whom: 'suport|asistență|microsoft|windows|apple|imediat|acum',
    act: 'elimin|șterge|curăț|instal|descărc|scan|repar',
    soon: 'acum|imediat|virus|secunde|minute',
    uncertain: '?|dacă|când|poate|ar putea|protej|cum ',
  },
  el: {
    devices: 'υπολογιστής σας|υπολογιστή σας|συσκευή σας|τηλέφωνό σας|κινητό σας|iphone σας',
    infected: 'μολυν|έχει προσβληθεί|παραβιαστεί|παραβιάστηκε',
    locked: 'κλειδωθεί|κλειδώθηκε|έχει αποκλειστεί|αποκλείστηκε|μπλοκαριστεί|μπλοκαρίστηκε',
    found: 'εντοπίστηκ|βρέθηκ|ανιχνεύ',
    viruses: 'ιός|ιοί|ιούς|κακόβουλο|virus',
    stay: 'μην κλείσετε|μην κλείνετε|μην απενεργοποιήσετε|μην επανεκκινήσετε|μην αγνοήσετε',
    call: 'καλέστε|επικοινωνήστε',
    whom: 'υποστήριξη|microsoft|windows|apple|αμέσως|τώρα',
    act: 'αφαιρέστε|καθαρίστε|εγκαταστήστε|κατεβάστε|σαρώστε',
    soon: 'τώρα|αμέσως|ιός|ιούς|λεπτ|δευτερ',
    uncertain: '?|;|αν η |αν ο |αν το |αν έχ|εάν|μπορεί|ενδέχεται|προστατ|πώς ',
  },
  uk: {
    devices: `${pairs('ваш|твій|цей', "комп'ютер|пристрій|телефон|iphone|смартфон")}|вашому комп'ютері|вашому пристрої|вашому телефоні`,
    infected: 'заражен|інфікован|зламан|уражен',
    locked: 'заблокован',
    found: 'виявлен|знайден',
    viruses: 'вірус|троян|шкідлив',
    stay: 'не закривайте|не вимикайте|не перезавантажуйте|не ігноруйте',
    call: "зателефонуйте|телефонуйте|подзвоніть|зв'яжіться",
    whom: 'підтрим|microsoft|windows|apple|негайно|зараз',
    act: 'видал|очист|встанов|завантаж|проскан',
    soon: 'зараз|негайно|вірус|хвилин|секунд',
    uncertain: '?|якщо|коли |може|захист|як ',
  },
  ar: {
    devices: 'جهازك|هاتفك|حاسوبك|كمبيوترك|الكمبيوتر الخاص بك|الهاتف الخاص بك|الجهاز الخاص بك|هذا الكمبيوتر',
    infected: 'مصاب|أصيب|إصابة|تم اختراق|مخترق',
    locked: 'تم قفل|مقفل|تم حظر|محظور',
    found: 'تم العثور|تم اكتشاف|عثر على|تم الكشف',
    viruses: 'فيروس|برامج ضارة|برمجيات خبيثة',
    stay: 'لا تغلق|لا تقم بإغلاق|لا تقم بإعادة|لا تعد تشغيل|لا تتجاهل',
    call: 'اتصل|تواصل',
    whom: 'الدعم|مايكروسوفت|microsoft|windows|apple|فورا|الآن',
    act: 'إزالة|احذف|نظف|تنظيف|تثبيت|قم بتنزيل|تحميل|إصلاح',
    soon: 'الآن|فورا|فيروس|دقائق|دقيقة|ثوان|ثانية',
    uncertain: '?|؟|إذا|ربما|قد يكون|كيف|حماية|احم ',
  },
  he: {
    devices: `${pairs('המחשב|המכשיר|הטלפון|האייפון|ה-iphone', 'שלך|שלכם')}|מחשב זה`,
    infected: 'נגוע|נדבק|נפרץ',
    locked: 'ננעל|נעול|נחסם',
    found: 'נמצא|זוהה|זוהו|התגל',
    viruses: 'וירוס|זדוני|טרויאני',
    stay: 'אל תסגור|אל תכבה|אל תכבו|אל תתעלמ|אין לסגור|אין לכבות|אין לאתחל',
    call: 'התקשר|צרו קשר|צור קשר',
    whom: 'תמיכה|microsoft|מיקרוסופט|windows|apple|מיד|עכשיו',
    act: 'הסר|נקה|התקן|הורד|סרוק',
    soon: 'עכשיו|מיד|וירוס|דקות|שניות',
    uncertain: '?|אם |כאשר|עלול|עשוי|להגן|כיצד',
  },
  hi: {
    devices: pairs('आपका|आपके|आपकी', 'फ़ोन|फोन|कंप्यूटर|डिवाइस|मोबाइल|iphone|सिस्टम'),
    infected: 'संक्रमित|हैक हो|हैक कर|वायरस से ग्रस्त',
    locked: 'लॉक कर दिया|लॉक हो|ब्लॉक कर दिया|ब्लॉक हो',
    found: 'पाया गया|पाए गए|मिला |मिले |पता चला',
    viruses: 'वायरस|मैलवेयर|ट्रोजन',
    stay: 'बंद न करें|बंद मत|रीस्टार्ट न|अनदेखा न',
    call: 'कॉल करें|संपर्क करें',
    whom: 'सहायता|सपोर्ट|microsoft|माइक्रोसॉफ्ट|windows|तुरंत|अभी',
    act: 'हटाएं|हटाएँ|साफ करें|साफ़ करें|इंस्टॉल|डाउनलोड|स्कैन',
    soon: 'अभी|तुरंत|वायरस|मिनट|सेकंड',
    uncertain: '?|यदि|अगर|सकता|सकते|बचा|सुरक्ष|कैसे',
  },
  id: {
    devices: `${pairs('komputer|ponsel|perangkat|hp|iphone|android|telepon|telefon|peranti|smartphone|samsung', 'anda|kamu')}|komputer ini`,
    infected: 'terinfeksi|diretas|dijangkiti|digodam|terkena virus',
    locked: 'terkunci|dikunci|diblokir|disekat',
    found: 'terdeteksi|ditemukan|dikesan|ditemui',
    viruses: 'virus|malware|trojan|spyware',
    stay: 'jangan tutup|jangan menutup|jangan matikan|jangan mematikan|jangan abaikan',
    call: 'hubungi|telepon ',
    whom: 'dukungan|sokongan|microsoft|windows|apple|segera|sekarang',
    act: 'hapus|bersihkan|pasang|instal|unduh|pindai|perbaiki|muat turun',
    soon: 'sekarang|segera|virus|detik|menit|minit',
    uncertain: '?|jika|apabila|kalau|mungkin|dapat |bisa |boleh |lindungi|melindungi|cara ',
  },
  vi: {
    devices: `${pairs('máy tính|điện thoại|thiết bị|iphone|hệ thống', 'của bạn')}|máy tính này`,
    infected: 'bị nhiễm|bị tấn công|bị hack|bị xâm nhập',
    locked: 'bị khóa|bị khoá|bị chặn',
    found: 'phát hiện|tìm thấy',
    viruses: 'virus|vi-rút|vi rút|phần mềm độc hại',
    stay: 'đừng đóng|không đóng|không được đóng|không tắt|đừng tắt|không khởi động lại|đừng bỏ qua',
    call: 'gọi |liên hệ',
    whom: 'hỗ trợ|microsoft|windows|apple|ngay|lập tức',
    act: 'xóa|xoá|gỡ bỏ|cài đặt|tải |quét|dọn dẹp',
    soon: 'ngay|lập tức|virus|phút|giây',
    uncertain: '?|nếu |khi |có thể|bảo vệ|cách ',
  },
  th: {
    devices: 'คอมพิวเตอร์ของคุณ|โทรศัพท์ของคุณ|อุปกรณ์ของคุณ|มือถือของคุณ|เครื่องของคุณ|iphone ของคุณ|คอมพิวเตอร์นี้',
    infected: 'ติดไวรัส|ติดเชื้อ|ถูกแฮ็ก|ถูกแฮก',
    locked: 'ถูกล็อก|ถูกล็อค|ถูกบล็อก|ถูกบล็อค',
    found: 'ตรวจพบ|พบ',
    viruses: 'ไวรัส|มัลแวร์|โทรจัน',
    stay: 'อย่าปิด|ห้ามปิด|อย่ารีสตาร์ท|ห้ามรีสตาร์ท|อย่าเพิกเฉย',
    call: 'โทร|ติดต่อ',
    whom: 'ฝ่ายสนับสนุน|microsoft|windows|apple|ทันที|ตอนนี้',
    act: 'ลบ|ล้าง|ติดตั้ง|ดาวน์โหลด|สแกน|กำจัด',
    soon: 'ทันที|ตอนนี้|เดี๋ยวนี้|ไวรัส|นาที',
    uncertain: '?|หาก|ถ้า|เมื่อ|อาจ|ป้องกัน|วิธี',
  },
  ko: {
    devices: pairs(
      '귀하의|당신의|사용자의|고객님의|회원님의|이',
      '컴퓨터|pc|휴대폰|스마트폰|핸드폰|기기|아이폰|iphone',
    ),
    infected: '감염되었|감염됐|감염된|해킹되었|해킹당',
    locked: '잠겼|잠겨|차단되었|차단됐',
    found: '발견|감지|검출',
    viruses: '바이러스|악성코드|악성 코드|트로이',
    stay: '닫지 마|종료하지 마|끄지 마|시작하지 마|무시하지 마',
    call: '전화|연락',
    whom: '지원|고객센터|microsoft|마이크로소프트|windows|apple|즉시|지금',
    act: '제거|삭제|치료|설치|다운로드|검사',
    soon: '지금|즉시|바이러스|분 안에|분 이내|초 안에|초 이내',
    uncertain: '?|경우|수 있|다면|으면|되면|예방|보호',
  },
  zh: {
    devices: pairs('您的|你的|此|这台|這台', '电脑|计算机|手机|设备|電腦|手機|裝置|設備|iphone', ''),
    infected: '已感染|被感染|感染了|感染病毒|已中毒|被黑客|被入侵|遭到入侵',
    locked: '被锁定|已锁定|被鎖定|已鎖定|被封锁|被封鎖',
    found: '检测到|发现|偵測到|檢測到|發現',
    viruses: '病毒|木马|木馬|恶意软件|惡意軟體|恶意程序',
    stay: '请勿关|不要关|请不要关|請勿關|不要關|請不要關|请勿重启|請勿重新|请勿忽略|請勿忽略',
    call: '致电|拨打|致電|撥打|联系|聯繫|聯絡',
    whom: '支持|支援|客服|微软|微軟|microsoft|windows|apple|立即|马上|馬上',
    act: '清除|删除|刪除|安装|安裝|下载|下載|扫描|掃描|修复|修復',
    soon: '立即|马上|馬上|病毒|分钟|分鐘|秒内|秒內',
    uncertain: '?|如果|可能|若|防止|保护|保護|是否|如何',
  },
};

/** Who locks a device besides, and what browsers refuse to honest pages. */
const BY_OTHERS = asRead(
  [
    'cookie|javascript| pin|pin-|puk|operat|passcode|kod |koden|kode|koodi|operaattor|kód|szolgáltató| cod |parol|κωδικ|πάροχο|код |пароль|сім',
    'رمز|كلمة المرور|شبكة|קוד|סיסמה|पासवर्ड|पिन|kata sandi|mã pin|mật khẩu|nhà mạng|รหัส|เครือข่าย|비밀번호|암호|통신사|密码|密碼|运营商|電信',
  ]
    .join('|')
    .split('|'),
);

const ALL: readonly Record<keyof Language, readonly string[]>[] = Object.values(LANGUAGES).map((language) => {
  const words = Object.entries(language).map(([kind, list]) => [kind, asRead(list.split('|'))]);
  return Object.fromEntries(words) as Record<keyof Language, string[]>;
});

/** The phrases of {@link LANGUAGES}, in the lists of `scareware-phrases.ts`. */
export const MORE_THREATS: readonly Phrase[] = ALL.flatMap(
  ({ devices, infected, locked, found, viruses, uncertain }) => [
    { all: [infected, devices], unless: uncertain },
    { all: [locked, devices], unless: [...uncertain, ...BY_OTHERS] },
    { all: [viruses, devices, found], unless: uncertain },
  ],
);
export const MORE_DETECTIONS: readonly Phrase[] = ALL.map(({ found, viruses, uncertain }) => {
  return { all: [viruses, found], unless: uncertain };
});
export const MORE_STAY: readonly Phrase[] = ALL.map(({ stay }) => ({ all: [stay] }));
export const MORE_CALL: readonly Phrase[] = ALL.map(({ call, whom }) => ({ all: [call, whom] }));
export const MORE_ACT: readonly Phrase[] = ALL.map(({ act, soon }) => ({ all: [act, soon] }));
