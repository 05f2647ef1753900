import t from 'tap';
import { loadFailureText, withoutHandler } from '../../../../sandbox/guest/boot.ts';

t.test('what a module threw is told as of a handler, with its stack beside it', (t) => {
  t.match(JSON.parse(loadFailureText(new TypeError('no price', { cause: 'why' }))), {
    outcome: { kind: 'threw', message: 'no price', code: 'TYPE_ERROR', status: 500, details: '{}' },
    report: /^Uncaught TypeError: no price\n\s+at [^]*\n\[cause\]: "why"$/,
  });
  t.match(JSON.parse(loadFailureText({ code: 'OWN', message: 'm', status: 422, details: { a: 1 } })), {
    outcome: { message: 'm', code: 'OWN', status: 422, details: '{}' },
    report: /^Uncaught {/,
  });
  t.end();
});

t.test('a module without a handler is told from one with it', (t) => {
  t.equal(withoutHandler({ handler: () => 1 }), '');
  for (const [exported, told] of [
    [{}, 'it exports nothing'],
    [{ handler: 1 }, 'its handler is of type number'],
    [{ default: () => 1 }, 'it exports default'],
  ] as const) {
    const message = `Plugin must export a handler function; ${told}`;
    t.strictSame(JSON.parse(withoutHandler(exported)), {
      outcome: {
        kind: 'threw',
        message,
        code: 'PLUGIN_ERROR',
        status: 500,
        details: '{}',
      },
      report: '',
    });
  }
  t.end();
});
