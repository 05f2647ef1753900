/** Each package on the list becomes a file of its own name, and CommonJS exports become named exports there. */
import t from 'tap';
import { bundlePackages } from '../../../../src/loading/bundle-packages.ts';
import { PACKAGES } from '../../../../src/loading/package-list.ts';

t.test('each package is bundled, by the module that its name leads to', async (t) => {
  const { files, entries } = await bundlePackages();
  t.equal(Object.keys(entries).length, PACKAGES.length);
  for (const name of PACKAGES) {
    const file = entries[import.meta.resolve(name)] ?? '';
    t.equal(file, `${name.replaceAll('/', '-')}.mjs`);
    t.ok(files.has(file), file);
  }
  const text = (file: string) => Buffer.from(files.get(file) ?? []).toString();
  t.match(text('undici.mjs'), /^export \{[^}]*\bAgent,/m, 'a CommonJS package');
  t.match(text('kysely.mjs'), /^export \{[^}]*\bKysely,/m, 'and one of modules');
});
