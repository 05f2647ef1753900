import t from 'tap';
import { BrowserField } from '../../../../../sandbox/host/compiler/browser-field.ts';

const FILES: Record<string, string> = {
  '/node_modules/a/package.json': '{"browser":{"./server.js":false,"./deep/x":false,"fs":false,"crypto":"./c.js"}}',
  '/node_modules/a/lib/package.json': '{"type":"module"}',
  '/node_modules/text/package.json': '{"browser":"./b.js"}',
  '/node_modules/mini/package.json': '{"browser":"./dist/mini.min.js","main":"./lib/index.js"}',
  '/node_modules/only/package.json': '{"browser":"./only.min.js"}',
  '/node_modules/bad/package.json': '{',
  '/node_modules/odd/package.json': '"browser"',
  '/plugins/package.json': '{"browser":{"./own.js":false}}',
};

const field = () => new BrowserField(async (path) => FILES[path]);

t.test('a package does without the files that it says so of, however they are named', async (t) => {
  const own = field();
  const disabled = ['server.js', 'server', 'deep/x', 'deep/x.js', 'deep/x/index.js'];
  for (const name of disabled) t.equal(await own.disablesFile(`/node_modules/a/${name}`), true, name);
  const kept = ['index.js', 'c.js', 'deep/server.js', 'lib/server.js', 'fs/x.js'];
  for (const name of kept) t.equal(await own.disablesFile(`/node_modules/a/${name}`), false, name);
  t.equal(await own.disablesFile('/plugins/own.js'), false, 'only packages say so');
  for (const name of ['text', 'bad', 'odd', 'none']) {
    t.equal(await own.disablesFile(`/node_modules/${name}/server.js`), false, name);
  }
});

t.test('a package does without modules for its own files', async (t) => {
  const own = field();
  t.equal(await own.disablesModule('/node_modules/a/lib/x.js', 'fs'), true, 'the nearest map counts');
  t.equal(await own.disablesModule('/node_modules/a/index.js', 'crypto'), false, 'that is another file');
  t.equal(await own.disablesModule('/node_modules/text/index.js', 'fs'), false);
  t.equal(await own.disablesModule('/node_modules/a/index.js', './server.js'), false, 'it is known by its path');
});

t.test('in the place of a minified bundle for browsers stands the package’s own main', async (t) => {
  const own = field();
  t.equal(await own.mainInsteadOf('/node_modules/mini/dist/mini.min.js'), '/node_modules/mini/lib/index.js');
  const kept = [
    'mini/dist/other.min.js',
    'mini/lib/index.js',
    'text/b.js',
    'only/only.min.js',
    'a/x.min.js',
    'bad/x.min.js',
  ];
  for (const name of kept) t.equal(await own.mainInsteadOf(`/node_modules/${name}`), undefined, name);
});
