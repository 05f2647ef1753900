/** How many triggers fire each second. */
export const COUNT = Number(process.env['TRIGGERS'] ?? 100);

/** The triggers of `trigger-process.ts`, by plugin. */
export const TRIGGERS = {
  p: [
    ...Array.from({ length: COUNT / 2 }, (_, index) => ({ name: `latest${index}`, every: '1s' })),
    ...Array.from({ length: COUNT / 2 }, (_, index) => ({ name: `all${index}`, every: '1s', missed: 'all' })),
  ],
  q: [{ name: 'told', on: 'transaction', status: ['pending', 'sent', 'failed'] }],
};
