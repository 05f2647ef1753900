/** The dashboard uses existing metrics and labels, and shows every metric. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { EXPOSED_METRICS } from '../../src/observability/metric-table.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { parseExposition, textOf } from '../support/exposition.ts';

interface Panel {
  id: number;
  type: string;
  title: string;
  description?: string;
  gridPos: { x: number; y: number; w: number; h: number };
  targets?: { expr: string; legendFormat: string }[];
}

const file = join(import.meta.dirname, '..', '..', 'deploy', 'grafana', 'isolayer.json');
const alerts = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'alerts.md'), 'utf8');
const { panels } = JSON.parse(readFileSync(file, 'utf8')) as { panels: Panel[] };
const targets = panels.flatMap((panel) => (panel.targets ?? []).map((target) => ({ panel: panel.title, ...target })));

/** The metrics in a query: the names before a selector. */
function selected(expr: string): string[] {
  return [...expr.matchAll(/([a-z_][a-z0-9_]*)\{/g)].map(([, name = '']) => name);
}

t.test('every metric that it asks for exists, and every metric of ours is asked for', async (t) => {
  const families = parseExposition(await textOf(createMetrics()));
  const familyOf = (name: string) =>
    families.has(name) ? name : name.replace(/_(bucket|sum|count)$/, (part) => (families.has(name) ? part : ''));
  const asked = new Set<string>();
  for (const { panel, expr } of targets) {
    const names = selected(expr);
    t.ok(names.length > 0, `${panel}: ${expr}`);
    for (const name of names) {
      t.ok(families.has(familyOf(name)), `${panel}: ${name}`);
      asked.add(familyOf(name));
    }
  }
  t.strictSame(
    [...EXPOSED_METRICS.keys()].filter((name) => !asked.has(name)),
    [],
  );
});

t.test('it groups and names by labels that the metrics have', (t) => {
  const labelsOf = new Map<string, readonly string[]>([...EXPOSED_METRICS].map(([name, { labels }]) => [name, labels]));
  for (const { panel, expr, legendFormat } of targets) {
    const known = selected(expr).flatMap((name) => labelsOf.get(name.replace(/_(bucket|sum|count)$/, '')) ?? ['kind']);
    const grouped = [...expr.matchAll(/ by \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(', '));
    const named = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label);
    for (const label of [...grouped, ...named]) {
      t.ok(['le', 'instance', ...known].includes(label), `${panel}: ${label}`);
    }
  }
  t.end();
});

t.test('no two panels lie on each other', (t) => {
  t.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  for (const [index, a] of panels.entries()) {
    for (const b of panels.slice(index + 1)) {
      const [one, other] = [a.gridPos, b.gridPos];
      const isApart =
        one.x + one.w <= other.x ||
        other.x + other.w <= one.x ||
        one.y + one.h <= other.y ||
        other.y + other.h <= one.y;
      if (!isApart || one.x + one.w > 24) t.fail(`${a.title} and ${b.title}`);
    }
  }
  t.end();
});

t.test('each panel says what it shows and when to worry, in its own words', (t) => {
  const texts = panels
    .filter(({ type }) => type !== 'row')
    .map(({ title, description = '' }) => ({ title, description }));
  for (const { title, description } of texts) {
    t.ok(description.split('. ').length > 1, `${title}: what it shows, and what to make of it`);
    for (const [alert] of description.matchAll(/\bIsolayer[A-Z]\w+/g)) t.ok(alerts.includes(`### ${alert}\n`), alert);
  }
  t.equal(new Set(texts.map(({ description }) => description)).size, texts.length, 'none is pasted');
  t.end();
});
