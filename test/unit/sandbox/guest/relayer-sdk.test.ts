import { join } from 'node:path';
import t from 'tap';
import ts from 'typescript';
import * as sdk from '../../../../sandbox/guest/modules/relayer-sdk.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..', '..');
const COMPILED = {
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  module: ts.ModuleKind.ESNext,
  skipLibCheck: true,
};

t.test('has the error helper and the enums', (t) => {
  const error = sdk.pluginError('m', { code: 'C', status: 422, details: { a: 1 } });
  t.ok(error instanceof sdk.PluginError);
  t.ok(error instanceof Error);
  t.match(error, { name: 'PluginError', message: 'm', code: 'C', status: 422, details: { a: 1 } });
  t.strictSame(Object.keys(sdk.pluginError('m')), ['code', 'status', 'details']);

  t.strictSame(Object.values(sdk.Speed), ['fastest', 'fast', 'average', 'safeLow']);
  t.equal(sdk.Speed.SAFE_LOW, 'safeLow');
  t.strictSame(Object.values(sdk.TransactionStatus).sort(), [
    'canceled',
    'confirmed',
    'expired',
    'failed',
    'mined',
    'pending',
    'sent',
    'submitted',
  ]);
  t.strictSame(Object.values(sdk.RelayerNetworkType), ['evm', 'solana', 'stellar']);
  for (const frozen of [sdk.Speed, sdk.TransactionStatus, sdk.RelayerNetworkType, sdk.LogLevel, sdk.SignerType]) {
    t.ok(Object.isFrozen(frozen));
  }
  t.end();
});

/** Its names and values are facts; an AGPL package may be imported by tests only. */
const original = (await import('@openzeppelin/relayer-sdk')) as unknown as Record<string, unknown>;

t.test('everything of the public SDK is there, with the same values', (t) => {
  const names = Object.keys(original['default'] ?? original).filter((name) => name !== '__esModule');
  t.equal(names.length, 78);
  const own = sdk as unknown as Record<string, unknown>;
  for (const name of names) {
    if (typeof original[name] === 'object') t.strictSame({ ...(own[name] as object) }, original[name], name);
    else t.equal(typeof own[name], typeof original[name], name);
  }
  t.strictSame(Object.keys(sdk).sort(), names.sort());
  for (const name of names.filter((name) => /^[A-Z]\w+Api$/.test(name))) {
    t.strictSame(methodsOf(sdk, name), methodsOf(original, name), name);
  }
  t.end();
});

function methodsOf(module: object, name: string): string[] {
  const { prototype } = (module as Record<string, { prototype: object }>)[name] ?? { prototype: {} };
  return Object.getOwnPropertyNames(prototype).sort();
}

t.test('so are its types', (t) => {
  const types = (file: string) => {
    const program = ts.createProgram([file], { ...COMPILED, allowImportingTsExtensions: true, noEmit: true });
    const source = program.getSourceFile(file);
    const symbol = source && program.getTypeChecker().getSymbolAtLocation(source);
    return symbol === undefined
      ? []
      : program
          .getTypeChecker()
          .getExportsOfModule(symbol)
          .map(({ name }) => name);
  };
  const own = new Set(types(join(ROOT, 'sandbox/guest/modules/relayer-sdk.ts')));
  const theirs = types(join(ROOT, 'node_modules/@openzeppelin/relayer-sdk/dist/index.d.ts'));
  t.ok(theirs.length > 300);
  t.strictSame(
    theirs.filter((name) => !own.has(name)),
    [],
  );
  t.end();
});
