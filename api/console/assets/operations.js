// Which operations a text holds, without parsing it: brackets are folded from the inside out until
// only the heads are left, as in `query Counts; fragment Row on Cluster;`.

const ASIDE = /"""[^]*?"""|"(?:\\.|[^"\\\n])*"|#.*/g;
const BLOCK = /\{[^(){}[\]]*\}/g;
const GROUP = /\([^(){}[\]]*\)|\[[^(){}[\]]*\]/g;
const HEAD = /^(query|mutation|subscription)\b\s*([_A-Za-z]\w*)?/;

/** The operations of `text` in order, as `{kind, name}`; the short form is a query without name. */
export function operations(text) {
  let heads = text.replace(ASIDE, " ");
  for (let before = null; before !== heads; ) {
    before = heads;
    heads = heads.replace(GROUP, " ").replace(BLOCK, ";");
  }
  return heads
    .split(";")
    .slice(0, -1)
    .map((head) => head.trim())
    .filter((head) => head === "" || HEAD.test(head))
    .map((head) => {
      const [, kind = "query", name] = HEAD.exec(head) ?? [];
      return { kind, name };
    });
}
