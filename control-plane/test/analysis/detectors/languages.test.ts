import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HUMAN } from '../../../src/analysis/detectors/deception/paste-to-run.ts';
import type { Phrase } from '../../../src/analysis/detectors/deception/phrase.ts';
import { DETECTIONS, THREATS } from '../../../src/analysis/detectors/deception/scareware-phrases.ts';
import { ACT, CALL, FINE, STAY } from '../../../src/analysis/detectors/deception/scareware-pressure.ts';
import { readableText } from '../../../src/analysis/detectors/deception/seen-page.ts';
import { observed, slugsOf } from '../../support/detected.ts';

/** By language: an infection, a lock, and pressure to stay. */
const SCAREWARE: readonly (readonly [language: string, infection: string, lock: string, pressure: string])[] = [
  ['Swedish', 'Din telefon är infekterad med 4 virus!', 'Din dator har låsts.', 'Stäng inte det här fönstret.'],
  ['Danish', 'Din telefon er inficeret med 4 virus!', 'Din computer er blevet låst.', 'Luk ikke dette vindue.'],
  ['Norwegian', 'Telefonen din er infisert med 4 virus!', 'Datamaskinen din er låst.', 'Ikke lukk dette vinduet.'],
  ['Finnish', 'Puhelimesi on saastunut!', 'Tietokoneesi on lukittu.', 'Älä sulje tätä ikkunaa.'],
  ['Czech', 'Váš telefon je napaden 4 viry!', 'Váš počítač byl zablokován.', 'Nezavírejte toto okno.'],
  ['Slovak', 'Váš telefón je infikovaný!', 'Váš počítač bol zablokovaný.', 'Nezatvárajte toto okno.'],
  ['Hungarian', 'A telefonja vírusos!', 'A számítógépe zárolva van.', 'Ne zárja be ezt az ablakot.'],
  [
    'Romanian',
    'Telefonul tău este infectat cu 4 viruși!',
    'Computerul tău a fost blocat.',
    'Nu închideți această fereastră.',
  ],
  ['Greek', 'Η συσκευή σας έχει μολυνθεί!', 'Ο υπολογιστής σας έχει κλειδωθεί.', 'Μην κλείσετε αυτό το παράθυρο.'],
  ['Ukrainian', 'Ваш телефон заражено вірусом!', 'Ваш комп’ютер заблоковано.', 'Не закривайте це вікно.'],
  ['Arabic', 'هاتفك مصاب بأربعة فيروسات!', 'تم قفل جهازك.', 'لا تغلق هذه النافذة.'],
  ['Hebrew', 'הטלפון שלך נגוע בווירוס!', 'המחשב שלך ננעל.', 'אל תסגור את החלון.'],
  ['Hindi', 'आपका फ़ोन 4 वायरस से संक्रमित है!', 'आपका कंप्यूटर लॉक कर दिया गया है।', 'इस विंडो को बंद न करें।'],
  ['Indonesian', 'Ponsel Anda terinfeksi 4 virus!', 'Komputer Anda telah diblokir.', 'Jangan tutup jendela ini.'],
  ['Vietnamese', 'Điện thoại của bạn bị nhiễm 4 virus!', 'Máy tính của bạn đã bị khóa.', 'Đừng đóng cửa sổ này.'],
  ['Thai', 'โทรศัพท์ของคุณติดไวรัส!', 'คอมพิวเตอร์ของคุณถูกล็อก', 'อย่าปิดหน้าต่างนี้'],
  ['Korean', '귀하의 휴대폰이 바이러스에 감염되었습니다!', '귀하의 컴퓨터가 차단되었습니다.', '이 창을 닫지 마십시오.'],
  ['Chinese', '您的手机已感染4个病毒！', '您的电脑已被锁定。', '请勿关闭此窗口。'],
];

describe('§2.5.13 deception in further languages', () => {
  for (const [language, infection, lock, pressure] of SCAREWARE)
    it(`scareware is found in ${language} for an infection or a lock with pressure, and for neither alone`, () => {
      for (const threat of [infection, lock]) {
        assert.deepEqual(slugsOf({ text: `${threat}\n${pressure}` }), ['scareware'], threat);
        assert.deepEqual(slugsOf({ text: threat }), [], threat);
      }
      assert.deepEqual(slugsOf({ text: pressure }), []);
    });

  it('questions, advice, forgotten codes and reports of fraud are no scareware in them', () => {
    for (const text of [
      'Är din telefon infekterad? Stäng inte av den.',
      'Om din telefon är infekterad, ring oss.\nStarta inte om den.',
      'Din telefon är låst till en operatör.\nStäng inte av den. Ring support nu: +46 8 555 0142 00',
      'Je váš telefon napaden?\nNevypínejte ho.',
      'Váš telefon je zablokován po třech pokusech o PIN.\nZavolejte podporu: +420 555 014 200',
      'Ha a telefonja vírusos, ne kapcsolja ki.',
      'Nếu điện thoại của bạn bị nhiễm virus, đừng tắt máy.',
      'Điện thoại của bạn bị khóa vì sai mật khẩu.\nKhông khởi động lại.',
      'यदि आपका फ़ोन संक्रमित है, तो इसे बंद न करें।',
      'إذا كان هاتفك مصاب بفيروس\nلا تغلق الهاتف',
      '如果您的手机已感染病毒\n请勿关闭手机',
      '귀하의 컴퓨터가 감염되었다면 연락하세요\n컴퓨터를 끄지 마십시오.',
      'Varning för bluff: "Din telefon är infekterad. Stäng inte fönstret." Polisen utreder bluffen.',
      'Policie varuje před podvodem: "Váš počítač byl zablokován. Nezavírejte toto okno." Podvodníci volají.',
      'Cảnh báo lừa đảo: "Máy tính của bạn đã bị khóa. Đừng đóng cửa sổ này." Kẻ lừa đảo gọi điện.',
    ])
      assert.deepEqual(slugsOf({ text }), [], text);
  });

  it('fake_system_dialog is found in them', () => {
    const slugs = (text: string) => slugsOf({}, [observed('dialog_box', { text, buttons: ['OK'] })]);
    assert.deepEqual(slugs('Windows Defender\nVáš počítač je napaden'), ['fake_system_dialog']);
    assert.deepEqual(slugs('Windows Security\nMáy tính của bạn bị nhiễm virus'), ['fake_system_dialog']);
  });

  it('paste_to_run is found for keys that are joined in the language, and for Vietnamese proofs', () => {
    for (const text of [
      'Xác minh rằng bạn không phải là robot\nNhấn Windows + R\nNhấn Ctrl + V',
      'Xác minh bạn là con người\nNhấn phím Windows và R\nNhấn Ctrl + V',
      '请验证您是真人\n按 Windows 键和 R 键\n按 Ctrl 键和 V 键',
      '로봇이 아닙니다\nWindows 키와 R 키를 누르세요\nCtrl 키와 V 키를 누르세요',
      'Jag är inte en robot\nTryck på Windows och R\nTryck på Ctrl och V',
      'Buktikan bahwa Anda bukan robot\nTekan Windows dan R\nTekan Ctrl + V',
    ])
      assert.deepEqual(slugsOf({ text }), ['paste_to_run'], text);
    const html =
      '<p hidden="">Không phải là robot: Windows + R, Ctrl + V</p><script>navigator.clipboard.writeText(a)</script>';
    assert.deepEqual(slugsOf({ text: 'Xác minh', html }), ['paste_to_run']);
  });

  it('a report of such an attack is no paste_to_run in any language', () => {
    for (const report of [
      'Bluff: bedragare ber dig bevisa att du inte är en robot med Windows + R och Ctrl + V. Så fungerar bluffen.',
      'Podvod: stránka chce důkaz, že nejste robot, Windows + R a Ctrl + V. Jak podvod funguje.',
      'Lừa đảo: chứng minh không phải là robot bằng Windows + R, Ctrl + V. Cảnh báo lừa đảo.',
      '사칭 사이트: 로봇이 아닙니다, Windows 키 + R, Ctrl + V. 가짜 캡차를 조심하세요.',
      '骗局：证明您不是机器人，Windows 键 + R，Ctrl + V。警惕诈骗。',
    ])
      assert.deepEqual(slugsOf({ text: report }), [], report);
  });

  it('push_lure is found in them, and not for news or a permission of another kind', () => {
    const asks = [observed('unprompted_call', { demand: 'notifications', trigger: 'none' })];
    for (const lure of [
      'Nhấn "Cho phép" để xác nhận bạn không phải là robot',
      'Nhấn "Cho phép" để tiếp tục',
      'Klik Izinkan untuk melanjutkan',
      'اضغط على السماح للمتابعة',
      'जारी रखने के लिए अनुमति दें पर क्लिक करें',
      '계속하려면 허용을 클릭하세요',
      '点击“允许”继续观看',
    ])
      assert.deepEqual(slugsOf({ text: lure }, asks), ['push_prompt', 'push_lure'], lure);
    for (const honest of [
      'Nhấn "Cho phép" để tiếp tục nhận thông báo',
      'Klik Izinkan untuk melanjutkan menerima berita',
      '点击“允许”继续接收新闻',
      'Click Allow to watch the video of YouTube here',
      'Klicken Sie auf Zulassen, um das externe Video zu laden',
    ])
      assert.deepEqual(slugsOf({ text: honest }, asks), ['push_prompt'], honest);
  });

  it('words to search for are written as texts are read, so that they can be found', () => {
    const phrases: readonly Phrase[] = [...THREATS, ...DETECTIONS, ...STAY, ...CALL, ...FINE, ...ACT];
    const words = [...HUMAN, ...phrases.flatMap(({ all, unless = [] }) => [...all.flat(), ...unless])];
    // In a line of its language, which has letters that no Latin one looks like.
    const lost = words.filter((word) => !readableText(`жю${word}жю`).includes(word));
    assert.deepEqual(lost, []);
  });
});
