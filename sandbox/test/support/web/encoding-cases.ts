import type { WebApi } from './web-cases.ts';

export const encoder: WebApi = {
  standard: 'Encoding 7.4',
  cases: {
    'encodes UTF-8': `same(new TextEncoder().encode('aé€😀'), Uint8Array.of(0x61, 0xc3, 0xa9, 0xe2, 0x82, 0xac, 0xf0, 0x9f, 0x98, 0x80)); is(new TextEncoder('utf-16').encoding, 'utf-8');`,
    'nothing is nothing': `is(new TextEncoder().encode().length, 0); is(new TextEncoder().encode(undefined).length, 0); is(hex(new TextEncoder().encode(null)), hex(bytes('null')));`,
    'lone surrogates': `is(hex(bytes('\\ud800')), 'efbfbd'); is(hex(bytes('\\udc00a')), 'efbfbd61'); is(hex(bytes('\\ud800\\ud83d\\ude00')), 'efbfbdf09f9880');`,
    'encodeInto tells how far it came': `const to = new Uint8Array(5); same(new TextEncoder().encodeInto('aé€x', to), { read: 2, written: 3 }); is(hex(to), '61c3a90000'); same(new TextEncoder().encodeInto('😀a', new Uint8Array(3)), { read: 0, written: 0 }); same(new TextEncoder().encodeInto('😀a', new Uint8Array(5)), { read: 3, written: 5 }); same(new TextEncoder().encodeInto('\\ud83d', new Uint8Array(3)), { read: 1, written: 3 });`,
    'encodeInto takes bytes only': `throws(TypeError, () => new TextEncoder().encodeInto('a', [])); throws(TypeError, () => new TextEncoder().encodeInto('a')); throws(TypeError, () => new TextEncoder().encodeInto('a', new Uint16Array(2))); throws(TypeError, () => new TextEncoder().encodeInto('a', new ArrayBuffer(2)));`,
    'its shape': `throws(TypeError, () => TextEncoder()); is(Object.prototype.toString.call(new TextEncoder()), '[object TextEncoder]'); throws(TypeError, () => TextEncoder.prototype.encoding); throws(TypeError, () => TextEncoder.prototype.encode.call({}, 'a'));`,
  },
};

export const decoder: WebApi = {
  standard: 'Encoding 7.2',
  cases: {
    labels: `same(['utf8', ' UTF-8\\n', 'unicode-1-1-utf-8', 'latin1', 'ascii', 'utf-16', 'utf-16be', 'x-sjis', 'gb2312', 'cp1251', 'koi', 'logical', 'dos-874', 'x-user-defined'].map((label) => new TextDecoder(label).encoding), ['utf-8', 'utf-8', 'utf-8', 'windows-1252', 'windows-1252', 'utf-16le', 'utf-16be', 'shift_jis', 'gbk', 'windows-1251', 'koi8-r', 'iso-8859-8-i', 'windows-874', 'x-user-defined']);`,
    'bad labels': `for (const bad of ['', 'utf-7', 'utf-32', 'replacement', 'iso-2022-kr', '\\u000butf-8', '\\u00a0utf-8', 'utf-8\\0', null]) throws(RangeError, () => new TextDecoder(bad), shown(bad));`,
    attributes: `const d = new TextDecoder('utf-8', { fatal: 1, ignoreBOM: 'x' }); same([d.fatal, d.ignoreBOM, d.encoding], [true, true, 'utf-8']); const e = new TextDecoder(); same([e.fatal, e.ignoreBOM, e.encoding], [false, false, 'utf-8']); is(new TextDecoder(undefined).encoding, 'utf-8');`,
    'kinds of input': `const d = new TextDecoder(); const b = bytes('abcd'); same([d.decode(b), d.decode(b.buffer), d.decode(new DataView(b.buffer, 1, 2)), d.decode(new Uint16Array(b.buffer)), d.decode(), d.decode(undefined)], ['abcd', 'abcd', 'bc', 'abcd', '', '']); throws(TypeError, () => d.decode('a')); throws(TypeError, () => d.decode([])); throws(TypeError, () => d.decode(null));`,
    'bad bytes are replaced by their longest beginnings': `const d = (text) => new TextDecoder().decode(unhex(text)); same(['ff', 'c0af', 'e08080', 'f08080', 'e282', 'e28261', 'f09f98', 'eda080', 'f4908080', 'c3', '80', 'f0e2'].map(d).map((text) => [...text].map((c) => c === '\\ufffd' ? 'R' : c).join('')), ['R', 'RR', 'RRR', 'RRR', 'R', 'Ra', 'R', 'RRR', 'RRRR', 'R', 'R', 'RR']);`,
    'fatal ones throw': `for (const bad of ['ff', 'c080', 'e282', 'eda080', 'f5808080', 'c3']) throws(TypeError, () => new TextDecoder('utf-8', { fatal: true }).decode(unhex(bad)), bad); const d = new TextDecoder('utf-8', { fatal: true }); throws(TypeError, () => d.decode(unhex('ff'))); is(d.decode(unhex('61')), 'a');`,
    'marks of byte order': `const d = (options) => new TextDecoder('utf-8', options).decode(unhex('efbbbf61efbbbf')); is(d(), 'a\\ufeff'); is(d({ ignoreBOM: true }), '\\ufeffa\\ufeff'); is(new TextDecoder('utf-16le').decode(unhex('fffe6100')), 'a'); is(new TextDecoder('utf-16be').decode(unhex('feff0061')), 'a'); is(new TextDecoder('utf-16le').decode(unhex('feff')), '\\ufffe');`,
    'a mark is taken anew for each text': `const d = new TextDecoder(); is(d.decode(unhex('efbbbf61')), 'a'); is(d.decode(unhex('efbbbf62')), 'b');`,
    'in pieces': `const d = new TextDecoder(); is(d.decode(unhex('f09f'), { stream: true }), ''); is(d.decode(unhex('9880'), { stream: true }), '😀'); is(d.decode(unhex('e2'), { stream: true }), ''); is(d.decode(), '\\ufffd'); is(d.decode(unhex('61')), 'a');`,
    'a mark in pieces': `const d = new TextDecoder(); is(d.decode(unhex('ef'), { stream: true }) + d.decode(unhex('bb'), { stream: true }) + d.decode(unhex('bf61'), { stream: true }) + d.decode(), 'a');`,
    'UTF-16 in pieces and broken': `const d = new TextDecoder('utf-16le'); is(d.decode(unhex('3d'), { stream: true }) + d.decode(unhex('d800'), { stream: true }) + d.decode(unhex('de'), { stream: true }) + d.decode(), '😀'); is(new TextDecoder('utf-16le').decode(unhex('00d86100')), '\\ufffda'); is(new TextDecoder('utf-16le').decode(unhex('61')), '\\ufffd'); throws(TypeError, () => new TextDecoder('utf-16le', { fatal: true }).decode(unhex('00dc')));`,
    'single bytes': `is(new TextDecoder('windows-1252').decode(unhex('80819fff')), '€\\u0081Ÿÿ'); is(new TextDecoder('iso-8859-2').decode(unhex('a1b1')), 'Ąą'); is(new TextDecoder('koi8-u').decode(unhex('a4c1')), 'єа'); is(new TextDecoder('x-user-defined').decode(unhex('0080ff')), '\\0\\uf780\\uf7ff'); is(new TextDecoder('windows-1253').decode(unhex('d2')), '\\ufffd'); throws(TypeError, () => new TextDecoder('windows-1253', { fatal: true }).decode(unhex('d2')));`,
    'several bytes': `is(new TextDecoder('shift_jis').decode(unhex('82a082a2b1')), 'あいｱ'); is(new TextDecoder('euc-jp').decode(unhex('a4a28eb1')), 'あｱ'); is(new TextDecoder('iso-2022-jp').decode(unhex('1b244224221b2842')), 'あ'); is(new TextDecoder('gb18030').decode(unhex('c4e38130813080')), '你\\u0080€'); is(new TextDecoder('big5').decode(unhex('a741')), '你'); is(new TextDecoder('euc-kr').decode(unhex('b0a1')), '가');`,
    'several bytes in pieces': `const d = new TextDecoder('big5'); is(d.decode(unhex('a7'), { stream: true }) + d.decode(unhex('41')), '你'); is(new TextDecoder('big5').decode(unhex('a7')), '\\ufffd'); throws(TypeError, () => new TextDecoder('euc-kr', { fatal: true }).decode(unhex('b0')));`,
    'its shape': `throws(TypeError, () => TextDecoder()); is(Object.prototype.toString.call(new TextDecoder()), '[object TextDecoder]'); throws(TypeError, () => TextDecoder.prototype.encoding);`,
  },
};

export const encodingStreams: WebApi = {
  standard: 'Encoding 7.5 and 7.6',
  cases: {
    'pieces of UTF-8': `const d = new TextDecoderStream(); const w = d.writable.getWriter(); w.write(unhex('f09f')); w.write(unhex('9880e2')); w.close(); same((await readAll(d.readable)).join(''), '😀\\ufffd');`,
    'a fatal one fails on both sides': `const d = new TextDecoderStream('utf-8', { fatal: true }); const w = d.writable.getWriter(); const r = d.readable.getReader(); const wrote = w.write(unhex('ff')); await rejects(TypeError, r.read()); await rejects(TypeError, w.closed); await wrote.catch(() => {});`,
    'a fatal one fails at the end too': `const d = new TextDecoderStream('utf-8', { fatal: true }); const w = d.writable.getWriter(); const all = readAll(d.readable); w.write(unhex('e2')).catch(() => {}); w.close().catch(() => {}); await rejects(TypeError, all);`,
    'takes buffers, not text': `const d = new TextDecoderStream(); const w = d.writable.getWriter(); const r = d.readable.getReader(); w.write('text').catch(() => {}); await rejects(TypeError, r.read()); w.closed.catch(() => {});`,
    'attributes of the decoder': `const d = new TextDecoderStream('latin1', { fatal: true, ignoreBOM: true }); same([d.encoding, d.fatal, d.ignoreBOM], ['windows-1252', true, true]); throws(RangeError, () => new TextDecoderStream('nope')); is(d.readable, d.readable); ok(d.readable instanceof ReadableStream && d.writable instanceof WritableStream);`,
    'surrogates in two chunks': `const e = new TextEncoderStream(); const w = e.writable.getWriter(); w.write('\\ud83d'); w.write('\\ude00'); w.write('\\ud83d'); w.close(); same((await readAll(e.readable)).map(hex).join(''), 'f09f9880efbfbd');`,
    'chunks become text': `const e = new TextEncoderStream(); const w = e.writable.getWriter(); w.write(undefined); w.write(5); w.write(''); w.close(); same((await readAll(e.readable)).map((one) => new TextDecoder().decode(one)), ['undefined', '5']);`,
    'symbols fail': `const e = new TextEncoderStream(); const w = e.writable.getWriter(); const r = e.readable.getReader(); w.write(Symbol()).catch(() => {}); await rejects(TypeError, r.read()); w.closed.catch(() => {});`,
    'through pipes': `const text = await new Response(new Blob(['ü'.repeat(1000)]).stream().pipeThrough(new TextDecoderStream()).pipeThrough(new TextEncoderStream())).text(); is(text, 'ü'.repeat(1000));`,
    shapes: `is(new TextEncoderStream().encoding, 'utf-8'); is(String(new TextEncoderStream()), '[object TextEncoderStream]'); is(String(new TextDecoderStream()), '[object TextDecoderStream]'); throws(TypeError, () => TextDecoderStream());`,
  },
};

export const base64: WebApi = {
  standard: 'HTML 8.3',
  cases: {
    'to base64': `same(['', 'a', 'ab', 'abc', '\\xff\\xfe', 'abcdef'].map(btoa), ['', 'YQ==', 'YWI=', 'YWJj', '//4=', 'YWJjZGVm']); is(btoa(undefined), btoa('undefined')); is(btoa(12), 'MTI='); throws('InvalidCharacterError', () => btoa('€')); throws(TypeError, () => btoa());`,
    'from base64': `same(['', 'YQ==', 'YQ', 'YWI=', 'YWJj', '//4='].map(atob), ['', 'a', 'a', 'ab', 'abc', '\\xff\\xfe']);`,
    'white space is skipped': `is(atob(' Y\\tW\\nJ\\fj\\r'), 'abc'); throws('InvalidCharacterError', () => atob('YW\\u000bJj')); throws('InvalidCharacterError', () => atob('YW\\u00a0Jj'));`,
    'what is refused': `for (const bad of ['a', 'aaaaa', 'YQ=', 'YQ===', '=', '==', 'Y=Q=', 'YW-_', 'YQ==YQ==', '\\0', 'ab=']) throws('InvalidCharacterError', () => atob(bad), bad); throws(TypeError, () => atob());`,
    'left bits are ignored': `is(atob('YR'), 'a'); is(atob('YWJ'), 'ab');`,
    'arguments are text': `is(atob(null), '\\x9e\\xe9e'); is(atob(12), '\\xd7'); throws('InvalidCharacterError', () => atob(undefined)); is(atob({ toString: () => 'YQ' }), 'a');`,
    'all bytes': `const all = Array.from({ length: 256 }, (_, at) => String.fromCharCode(at)).join(''); is(atob(btoa(all)), all);`,
  },
};
