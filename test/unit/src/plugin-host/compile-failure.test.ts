import t from 'tap';
import { compileFailure } from '../../../../src/plugin-host/compile-failure.ts';

const problem = (text: string, line = 2, lineText = 'é x', column = 3) => ({
  id: '',
  pluginName: '',
  text,
  detail: undefined,
  notes: [],
  location: { file: 'a.ts', namespace: '', line, column, length: 1, lineText, suggestion: '' },
});

const failed = (errors: object[]) =>
  compileFailure('p', Object.assign(new Error('Build failed'), { errors, warnings: [] }));

t.test('names file, line, column and text, in characters from 1', async (t) => {
  t.strictSame(failed([problem('Unexpected ";"')]), {
    code: 'COMPILE_ERROR',
    message: 'Compilation failed: plugins/a.ts:2:3: Unexpected ";"',
    status: 500,
    details: { pluginId: 'p', file: 'plugins/a.ts', line: 2, column: 3 },
  });
});

t.test('an import of Node says why it is not there', async (t) => {
  t.match(
    failed([problem('Could not resolve "node:fs"')]).message,
    /Cannot import "node:fs": it is a module of Node\.js/,
  );
  t.match(failed([problem('Could not resolve "left-pad"')]).message, /Could not resolve "left-pad"/);
});

t.test('shows the first of many errors, and those without a place', async (t) => {
  const many = failed(Array.from({ length: 7 }, (_, index) => problem(`error ${index}`)));
  t.match(many.message, /error 4\nand 2 more$/);
  t.strictSame(failed([{ ...problem('no place'), location: null }]), {
    code: 'COMPILE_ERROR',
    message: 'Compilation failed: no place',
    status: 500,
    details: { pluginId: 'p', file: null, line: null, column: null },
  });
  t.match(compileFailure('p', new Error('broken pipe')).message, 'Compilation failed: broken pipe');
  t.match(compileFailure('p', 'text').message, 'Compilation failed: text');
});
