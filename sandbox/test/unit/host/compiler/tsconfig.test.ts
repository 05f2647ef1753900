/** Threat: a tsconfig that extends itself, or whose text is made to break the parser. */
import t from 'tap';
import { TsconfigPaths, tsconfigOf } from '../../../../host/compiler/tsconfig.ts';

const of = async (files: Record<string, string>, folder = '/plugins') => {
  const { paths, baseUrl } = await tsconfigOf(folder, '/plugins', async (path) => files[path]);
  return { paths: Object.fromEntries(paths), baseUrl };
};

t.test('the nearest tsconfig up to the root counts', async (t) => {
  const files = {
    '/tsconfig.json': '{"compilerOptions":{"baseUrl":"above"}}',
    '/plugins/tsconfig.json': '{"compilerOptions":{"paths":{"@/*":["./src/*",5]}}}',
    '/plugins/own/tsconfig.json': '{"compilerOptions":{"baseUrl":"./lib","paths":{"x":["./y.ts"]}}}',
  };
  t.strictSame(await of(files), { paths: { '@/*': ['/plugins/src/*'] }, baseUrl: undefined });
  t.strictSame(await of(files, '/plugins/other/deep'), await of(files));
  t.strictSame(await of(files, '/plugins/own'), {
    paths: { x: ['/plugins/own/lib/y.ts'] },
    baseUrl: '/plugins/own/lib',
  });
  t.strictSame(await of({ '/tsconfig.json': '{"compilerOptions":{"baseUrl":"above"}}' }), {
    paths: {},
    baseUrl: undefined,
  });
});

t.test('what it extends lies beneath, in a file or a package, as far as that can be read', async (t) => {
  const files = {
    '/plugins/tsconfig.json': '{"extends":["./base","@a/ts","../gone.json"],"compilerOptions":{"paths":{"own":["o"]}}}',
    '/plugins/base.json': '{"compilerOptions":{"baseUrl":"b","paths":{"base":["c"]}}}',
    '/plugins/node_modules/@a/ts/tsconfig.json': '{"compilerOptions":{"paths":{"packaged":["d"]}}}',
  };
  t.strictSame(await of(files), { paths: { own: ['/plugins/o'] }, baseUrl: '/plugins/b' });
  const without = { ...files, '/plugins/tsconfig.json': '{"extends":["./base","@a/ts"]}' };
  t.strictSame((await of(without)).paths, { packaged: ['/plugins/node_modules/@a/ts/d'] });
});

t.test('comments and last commas are read, what is no JSON is nothing, and a circle ends', async (t) => {
  const commented = `\uFEFF// one\n{ "compilerOptions": { /* two, */ "paths": { "a//b": ["c,]" /* three */ , ], }, }, }`;
  t.strictSame((await of({ '/plugins/tsconfig.json': commented })).paths, { 'a//b': ['/plugins/c,]'] });
  const nothing = { paths: {}, baseUrl: undefined };
  for (const text of ['{', '5', '{"compilerOptions":5}', '{"compilerOptions":{"paths":{"a":"b"},"baseUrl":5}}']) {
    t.match(await of({ '/plugins/tsconfig.json': text }), text.includes('"a"') ? { paths: { a: [] } } : nothing, text);
  }
  t.strictSame(await of({ '/plugins/tsconfig.json': `"${'/*'.repeat(200_000)}` }), nothing);
  t.strictSame(await of({ '/plugins/tsconfig.json': '{"extends":"./tsconfig.json"}' }), nothing);
});

t.test('tsconfig paths', async (t) => {
  const TEXT = JSON.stringify({
    compilerOptions: {
      baseUrl: '.',
      paths: {
        '@/*': ['src/*', 'more/*'],
        '@/deep/*': ['deep/*.ts'],
        exact: ['e.ts'],
        typed: ['t.d.ts'],
        'a*z': ['az/*'],
        '*': ['any/*'],
      },
    },
  });

  t.test('patterns lead where the compiler of TypeScript has them lead', async (t) => {
    const paths = new TsconfigPaths('/p', async (path) => (path === '/p/tsconfig.json' ? TEXT : undefined));
    const of = (specifier: string) => paths.candidates(specifier, '/p/lib/a.ts');
    t.strictSame(await of('@/x'), ['/p/src/x', '/p/more/x', '/p/@/x']);
    t.strictSame(await of('@/deep/x'), ['/p/deep/x.ts', '/p/@/deep/x'], 'the longest text before the star');
    t.strictSame(await of('exact'), ['/p/e.ts', '/p/exact']);
    t.strictSame(await of('typed'), ['/p/typed'], 'types are no code');
    t.strictSame(await of('abcz'), ['/p/az/bc', '/p/abcz']);
    t.strictSame(await of('az'), ['/p/az/', '/p/az']);
    t.strictSame(await of('other'), ['/p/any/other', '/p/other']);
    for (const specifier of ['./x', '../x', '/x', 'node:fs', 'https://x', '#own'])
      t.strictSame(await of(specifier), []);
  });

  t.test('without a tsconfig nothing leads anywhere', async (t) => {
    const paths = new TsconfigPaths('/p', async () => undefined);
    t.strictSame(await paths.candidates('x', '/p/a.ts'), []);
  });
});
