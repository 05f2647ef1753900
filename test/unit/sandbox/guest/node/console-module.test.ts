import t from 'tap';
import { createConsoleModule } from '../../../../../sandbox/guest/lazy/modules.ts';

t.test('the module is the global console with a class for other places', async (t) => {
  const own = { log: () => 'logged' };
  const module = createConsoleModule(own, () => ({
    format: (...values: unknown[]) => values.join('+'),
  })) as typeof own & {
    Console: new (...streams: unknown[]) => Record<string, (...values: unknown[]) => void>;
  };
  t.equal(module.log, own.log);
  const lines: string[] = [];
  const stream = (name: string) => ({ write: (text: string) => lines.push(`${name} ${text}`) });
  const both = new module.Console({ stdout: stream('out'), stderr: stream('err') });
  both['log']?.('a', 1);
  both['error']?.('b');
  new module.Console(stream('one'))['warn']?.('c');
  t.strictSame(lines, ['out a+1\n', 'err b\n', 'one c\n']);
});
