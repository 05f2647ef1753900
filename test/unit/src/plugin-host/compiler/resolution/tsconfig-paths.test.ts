import t from 'tap';
import { TsconfigPaths } from '../../../../../../src/plugin-host/compiler/resolution/tsconfig-paths.ts';

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
  for (const specifier of ['./x', '../x', '/x', 'node:fs', 'https://x', '#own']) t.strictSame(await of(specifier), []);
});

t.test('without a tsconfig nothing leads anywhere', async (t) => {
  const paths = new TsconfigPaths('/p', async () => undefined);
  t.strictSame(await paths.candidates('x', '/p/a.ts'), []);
});
