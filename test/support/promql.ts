import { parser } from '@prometheus-io/lezer-promql';

/** What a query selects by. */
export interface Matcher {
  label: string;
  operator: string;
  value: string;
}

/** One selector of a query: a metric and what is asked of its labels. */
export interface Selector {
  metric: string;
  matchers: Matcher[];
}

/** What is read of a query: its selectors, and the labels that it groups and matches by. */
export interface Query {
  selectors: Selector[];
  grouped: string[];
}

/** Reads a query with the grammar of Prometheus. @throws where it is none */
export function parsePromQl(text: string): Query {
  const query: Query = { selectors: [], grouped: [] };
  let isGrouping = false;
  const matcher = () => query.selectors.at(-1)?.matchers.at(-1);
  parser.parse(text).iterate({
    enter(node) {
      const said = text.slice(node.from, node.to);
      if (node.type.isError) throw new Error(`no PromQL at ${node.from}: ${text}`);
      const { name } = node;
      if (name === 'VectorSelector') query.selectors.push({ metric: '', matchers: [] });
      if (name === 'GroupingLabels') isGrouping = true;
      if (name === 'UnquotedLabelMatcher') {
        query.selectors.at(-1)?.matchers.push({ label: '', operator: '', value: '' });
      }
      const selector = query.selectors.at(-1);
      const last = matcher();
      if (name === 'Identifier' && selector !== undefined) selector.metric = said;
      if (name === 'LabelName' && isGrouping) query.grouped.push(said);
      else if (name === 'LabelName' && last !== undefined) last.label = said;
      if (name === 'MatchOp' && last !== undefined) last.operator = said;
      if (name === 'StringLiteral' && last !== undefined) last.value = said.slice(1, -1);
    },
    leave(node) {
      if (node.name === 'GroupingLabels') isGrouping = false;
    },
  });
  return query;
}
