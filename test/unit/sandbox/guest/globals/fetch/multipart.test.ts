import t from 'tap';
import { createBlobClasses } from '../../../../../../sandbox/guest/globals/fetch/blob.ts';
import { createFormDataClass } from '../../../../../../sandbox/guest/globals/fetch/form-data.ts';
import {
  boundaryOf,
  decodeMultipart,
  encodeMultipart,
} from '../../../../../../sandbox/guest/globals/fetch/multipart.ts';
import { runtimeServices } from '../../../../../support/guest-web.ts';

const blobs = createBlobClasses(runtimeServices().streams);
const { Blob, File, bytesIn } = blobs;
const FormData = createFormDataClass(blobs);

function form() {
  const made = new FormData();
  made.append('plain', 'a\nb\r\nc\rd');
  made.append('na"me\r\n', 'é');
  made.append('file', new Blob([Uint8Array.of(0, 13, 10, 255)], { type: 'x/y' }), 'fi"le.bin');
  made.append('empty', new Blob([]), 'none');
  return made;
}

t.test('Node reads what is written here', async (t) => {
  const { bytes, boundary } = encodeMultipart(form(), bytesIn);
  const read = await new Response(bytes, {
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
  }).formData();
  t.strictSame([...read.keys()], ['plain', 'na"me\r\n', 'file', 'empty']);
  t.equal(read.get('plain'), 'a\r\nb\r\nc\r\nd');
  t.equal(read.get('na"me\r\n'), 'é');
  const file = read.get('file') as File;
  t.same([file.name, file.type, [...(await file.bytes())]], ['fi"le.bin', 'x/y', [0, 13, 10, 255]]);
});

t.test('a form is the same bytes each time, and its boundary is nowhere in it', (t) => {
  t.strictSame(encodeMultipart(form(), bytesIn), encodeMultipart(form(), bytesIn));
  const tricky = new FormData();
  tricky.append('a', '----formdata-isolayer-1');
  tricky.append('b', new Blob(['x----formdata-isolayer-2x']), '----formdata-isolayer-3');
  t.equal(encodeMultipart(tricky, bytesIn).boundary, '----formdata-isolayer-4');
  t.end();
});

t.test('what Node writes is read here', async (t) => {
  const theirs = new globalThis.FormData();
  theirs.append('plain', 'a\nb');
  theirs.append('n"', 'é');
  theirs.append('file', new globalThis.Blob([Uint8Array.of(0, 13, 10, 255)], { type: 'x/y' }), 'f"');
  const response = new Response(theirs);
  const boundary = boundaryOf(response.headers.get('content-type') ?? '') ?? '';
  const read = decodeMultipart(await response.bytes(), boundary, { FormData, File });
  t.strictSame([...read.keys()], ['plain', 'n"', 'file']);
  t.equal(read.get('plain'), 'a\r\nb');
  t.equal(read.get('n"'), 'é');
  const file = read.get('file') as InstanceType<typeof File>;
  t.same([file.name, file.type, [...(await file.bytes())]], ['f"', 'x/y', [0, 13, 10, 255]]);
});

t.test('what is no form is refused', (t) => {
  const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'latin1'));
  const read = (text: string) => decodeMultipart(bytes(text), 'B', { FormData, File });
  t.equal([...read('--B--\r\n').keys()].length, 0);
  for (const text of [
    '',
    'nothing',
    '--B',
    '--B\r\n',
    '--B\r\nContent-Disposition: form-data; name="a"\r\n\r\nx',
    '--B\r\nContent-Disposition: form-data\r\n\r\nx\r\n--B--',
    '--B\r\nContent-Disposition: attachment; name="a"\r\n\r\nx\r\n--B--',
    '--B\r\nContent-Disposition: form-data; name="a"\r\n\r\nx--B--',
    '--Bx',
  ]) {
    t.throws(() => read(text), TypeError, JSON.stringify(text));
  }
  t.equal(boundaryOf('multipart/form-data; boundary="a b"'), 'a b');
  t.equal(boundaryOf('multipart/form-data'), undefined);
  t.end();
});
