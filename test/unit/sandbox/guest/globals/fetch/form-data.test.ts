import t from 'tap';
import { createBlobClasses } from '../../../../../../sandbox/guest/globals/fetch/blob.ts';
import { createFormDataClass } from '../../../../../../sandbox/guest/globals/fetch/form-data.ts';
import { guestWeb, NODE_WEB, outcomeOf, runtimeServices, type WebApis } from '../../../../../support/guest-web.ts';

const ATTEMPTS: Record<string, (web: WebApis) => unknown> = {
  texts: ({ FormData }) => {
    const form = new FormData();
    form.append('a', '1');
    form.append('b', 2);
    form.append('a', '\ud800');
    form.set('b', 'x');
    form.set('c', 'y');
    const before = [...form];
    form.set('a', 'z');
    form.delete('c');
    return [
      before,
      [...form.keys()],
      [...form.values()],
      form.get('a'),
      form.getAll('a'),
      form.has('c'),
      form.get('c'),
    ];
  },
  files: async ({ FormData, Blob, File }) => {
    const form = new FormData();
    form.append('a', new Blob(['x'], { type: 't/u' }));
    form.append('b', new Blob(['x']), 'named');
    const given = new File(['y'], 'own', { lastModified: 5 });
    form.append('c', given);
    form.append('d', given, 'other');
    const files = [...form.values()] as File[];
    return [
      files.map((file) => [file instanceof File, file.name, file.type]),
      form.get('c') === given,
      files[3]?.lastModified,
    ];
  },
  'a name for a text': ({ FormData }) => new FormData().append('a', 'b', 'c'),
  'a form element': ({ FormData }) => new (FormData as unknown as new (form: unknown) => unknown)({}),
  forEach: ({ FormData }) => {
    const form = new FormData();
    form.append('a', '1');
    const seen: unknown[] = [];
    Reflect.apply(form.forEach, form, [(value: unknown, name: string) => seen.push(value, name)]);
    return seen;
  },
  'no callback': ({ FormData }) => Reflect.apply(FormData.prototype.forEach, new FormData(), [undefined]),
  tag: ({ FormData }) => String(new FormData()),
};

t.test('forms do as Node’s', async (t) => {
  const web = guestWeb();
  for (const [name, attempt] of Object.entries(ATTEMPTS)) {
    t.strictSame(await outcomeOf(() => attempt(web)), await outcomeOf(() => attempt(NODE_WEB)), name);
  }
});

t.test('what is appended on the way is visited too', (t) => {
  const FormData = createFormDataClass(createBlobClasses(runtimeServices().streams));
  const form = new FormData();
  form.append('a', '1');
  const seen: string[] = [];
  for (const [name] of form) {
    seen.push(name);
    if (seen.length < 3) form.append(`${name}x`, '1');
  }
  t.strictSame(seen, ['a', 'ax', 'axx']);
  t.end();
});
