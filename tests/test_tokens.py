"""The estimate against two real tokenizers, over samples of everything a conversation may hold."""

from __future__ import annotations

import argparse
import asyncio.base_events
import base64
import csv
import dataclasses
import difflib
import email.message
import heapq
import http.client
import inspect
import json
import logging
import pathlib
import random
import shutil
import string
import tarfile
import textwrap
import unittest.mock
import warnings
from collections.abc import Callable
from types import MappingProxyType, ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterglow import tokens
from afterglow.tokens import MESSAGE_TOKENS, WHOLE_CHARS_MAX, estimate, estimate_parts
from tests.kit.loops import for_each

with warnings.catch_warnings():  # its loader uses a function that Python 3.11 calls deprecated
    warnings.simplefilter("ignore", DeprecationWarning)
    import bpe_openai

pytestmark = pytest.mark.spec("LOG-2")

_ENCODINGS = [bpe_openai.get_encoding(name) for name in ("o200k_base", "cl100k_base")]

SHORT_TOKENS = 24
"""Below so many tokens a share means little; the difference is bounded instead."""


def real(text: str) -> int:
    """The larger of two real counts."""
    return max(len(encoding.encode_ordinary(text)) for encoding in _ENCODINGS)


ENGLISH = [
    "Hi! Are you there?",
    "Could you move my dentist appointment from Tuesday to Thursday afternoon, please? Anything after three works.",
    "I spoke with Margaret yesterday. She thinks the budget will be approved by the end of the month, but she wants to "
    "see one more comparison of the two vendors before she signs anything.",
    "Sure, done. The appointment is now on Thursday at 15:30, and I've told the clinic that you prefer text messages.",
    "The train was late again, so I missed the connection in Frankfurt and had to spend four hours at the station. On "
    "the bright side, I finally finished that novel you lent me. The ending surprised me; I was certain the gardener "
    "had done it.",
    "what's the wifi password at the cabin? i cant find the note and mum is not picking up",
    "Thermodynamics tells us that the entropy of an isolated system never decreases. In practice this means that heat "
    "flows from warm bodies to cold ones, that perpetual motion machines are impossible, and that every conversion of "
    "energy loses some of it to the surroundings.",
    "Please remember three things about me: I'm allergic to hazelnuts, I never fly on Mondays, and I'd rather read a "
    "short summary than a long report.",
    "Our quarterly revenue grew by 12.4% to $3.8 million, while operating expenses stayed flat. Churn fell from 5.1% to "
    "4.3%, largely because the onboarding team now calls every new customer within two days of registration.",
    "To make the sauce, soften two chopped onions in butter over a low heat for about ten minutes. Add the garlic, the "
    "tomatoes, a pinch of sugar and a sprig of thyme. Simmer uncovered until thick, then pass it through a sieve.",
    "No, I don't think that's right. You said last week that the lease ends in October, not in September. Can you check "
    "the contract again before we call the landlord?",
    "The committee unanimously recommended postponing the infrastructure modernisation programme until independent "
    "environmental assessments had been commissioned, scrutinised and published.",
    "Good morning! Here is what happened overnight: two deployments succeeded, one rolled back because of a failing "
    "health check, and the on-call engineer restarted the message broker at 03:12. Nothing needs your attention.",
    "Once upon a time a fox lived at the edge of a quiet wood. Every evening she walked down to the river and watched "
    "the lanterns of the boats go by, and every evening she wondered where they went.",
    "Reminder: the kids' swimming lesson starts at 5, Granny's birthday is on Saturday (she turns 80!), and we still "
    "haven't booked a table. Shall I try the Italian place near the park?",
    "Her argument rests on two premises. First, that knowledge requires justification; second, that justification "
    "cannot be circular. Deny either, and the regress she describes never gets started.",
    "I've been feeling a bit overwhelmed lately. Work is fine, mostly, but I keep waking up at four and then lying "
    "there thinking about everything I forgot. My doctor suggested writing a list before bed. It helps a little.",
    "LOL ok!! see u at 8 then, bring snacks :)",
    "Subject: Re: Re: Invoice 20931\n\nDear Ms Okonkwo,\n\nthank you for the reminder. The payment was sent on Friday "
    "and should reach your account within two working days. Apologies for the delay.\n\nKind regards,\nTom",
    "## Decisions\n\n- We keep PostgreSQL for the shared deployment.\n- The retention period is **90 days**, not 30.\n"
    "- Anna writes the migration guide; Piotr reviews it.\n\n## Open questions\n\n1. Who pays for the second region?\n"
    "2. Do we need to tell customers before the switch?\n",
    "Photosynthesis converts carbon dioxide and water into glucose and oxygen using chlorophyll. The light-dependent "
    "reactions take place in the thylakoid membranes, whereas the Calvin cycle operates in the stroma of chloroplasts.",
    "Tell Kowalczyk, Nguyen and O'Shaughnessy that the rehearsal in Llanfairpwll is cancelled; Siobhan, Xiaoming and "
    "Bjarne will be told by Wojciech when he lands in Reykjavik.",
]

POLISH = [
    "Cześć! Jesteś tam?",
    "Czy możesz przełożyć moją wizytę u dentysty z wtorku na czwartek po południu? Najlepiej po piętnastej.",
    "Rozmawiałem wczoraj z Małgorzatą. Uważa, że budżet zostanie zatwierdzony do końca miesiąca, ale przed podpisaniem "
    "czegokolwiek chce jeszcze raz porównać oferty obu dostawców.",
    "Gotowe. Wizyta jest teraz w czwartek o 15:30, a w przychodni wiedzą, że wolisz wiadomości tekstowe.",
    "Pociąg znowu się spóźnił, więc uciekła mi przesiadka w Poznaniu i przesiedziałem cztery godziny na dworcu. Za to "
    "wreszcie skończyłem powieść, którą mi pożyczyłaś. Zakończenie mnie zaskoczyło; byłem pewien, że to ogrodnik.",
    "jakie jest haslo do wifi w domku? nie moge znalezc kartki, a mama nie odbiera telefonu",
    "Druga zasada termodynamiki mówi, że entropia układu izolowanego nigdy nie maleje. W praktyce oznacza to, że ciepło "
    "przepływa od ciał cieplejszych do chłodniejszych, a każda przemiana energii wiąże się ze stratami.",
    "Zapamiętaj o mnie trzy rzeczy: mam uczulenie na orzechy laskowe, nigdy nie latam w poniedziałki i wolę krótkie "
    "podsumowanie od długiego raportu.",
    "Przychody w kwartale wzrosły o 12,4% do 3,8 mln zł, a koszty operacyjne się nie zmieniły. Odsetek rezygnacji spadł z "
    "5,1% do 4,3%, głównie dlatego, że zespół wdrożeń dzwoni do każdego nowego klienta w ciągu dwóch dni.",
    "Żeby zrobić sos, zeszklij na maśle dwie posiekane cebule, mniej więcej dziesięć minut na małym ogniu. Dodaj czosnek, "
    "pomidory, szczyptę cukru i gałązkę tymianku. Duś bez przykrycia, aż zgęstnieje, a potem przetrzyj przez sito.",
    "Nie, to się nie zgadza. W zeszłym tygodniu mówiłeś, że umowa najmu kończy się w październiku, a nie we wrześniu. "
    "Sprawdź ją jeszcze raz, zanim zadzwonimy do właściciela.",
    "Komisja jednogłośnie zaleciła odroczenie programu modernizacji infrastruktury do czasu przeprowadzenia i "
    "opublikowania niezależnych ocen oddziaływania na środowisko.",
    "Dzień dobry! Oto, co się działo w nocy: dwa wdrożenia się udały, jedno wycofano z powodu nieudanej kontroli stanu, a "
    "dyżurny o 03:12 uruchomił ponownie brokera wiadomości. Nic nie wymaga twojej uwagi.",
    "Dawno, dawno temu na skraju cichego lasu mieszkała lisica. Co wieczór schodziła nad rzekę i patrzyła na latarnie "
    "przepływających łodzi, i co wieczór zastanawiała się, dokąd płyną.",
    "Przypominam: basen dzieci zaczyna się o 17, babcia ma w sobotę urodziny (kończy osiemdziesiąt lat!), a my ciągle nie "
    "zarezerwowaliśmy stolika. Spróbować w tej włoskiej restauracji przy parku?",
    "Jej rozumowanie opiera się na dwóch przesłankach: po pierwsze, wiedza wymaga uzasadnienia; po drugie, uzasadnienie "
    "nie może być koliste. Wystarczy odrzucić jedną z nich, a opisany przez nią regres w ogóle się nie zacznie.",
    "Ostatnio czuję się trochę przytłoczony. W pracy jest w porządku, ale budzę się o czwartej i leżę, myśląc o wszystkim, "
    "czego zapomniałem. Lekarka poradziła, żebym przed snem robił listę. Trochę pomaga.",
    "Zażółć gęślą jaźń. W Szczebrzeszynie chrząszcz brzmi w trzcinie i Szczebrzeszyn z tego słynie.",
    "Temat: Odp.: Faktura 20931\n\nSzanowna Pani,\n\ndziękuję za przypomnienie. Przelew wyszedł w piątek i powinien dotrzeć "
    "w ciągu dwóch dni roboczych. Przepraszam za opóźnienie.\n\nZ poważaniem\nTomasz Wiśniewski",
    "## Ustalenia\n\n- Zostajemy przy PostgreSQL we wdrożeniu współdzielonym.\n- Dane trzymamy **90 dni**, a nie 30.\n"
    "- Ania pisze przewodnik migracji, Piotr go sprawdza.\n\n## Otwarte pytania\n\n1. Kto płaci za drugi region?\n",
    "Prosze o kontakt w sprawie reklamacji nr 4471. Przesylka dotarla uszkodzona, a kurier odmowil spisania protokolu. "
    "Oczekuje zwrotu pieniedzy albo wymiany towaru na nowy.",
    "Fotosynteza zamienia dwutlenek węgla i wodę w glukozę i tlen z udziałem chlorofilu. Reakcje zależne od światła "
    "zachodzą w błonach tylakoidów, a cykl Calvina w stromie chloroplastów.",
]

CHINESE = [
    "你好，在吗？",
    "请帮我把星期二的牙医预约改到星期四下午，三点以后都可以。",
    "我昨天和玛格丽特谈过了。她认为预算会在月底之前批下来，不过在签字之前，她还想再看一遍两家供应商的对比。",
    "好的，已经改好了。预约现在是星期四下午三点半，我也告诉诊所您更喜欢收短信。",
    "火车又晚点了，我在郑州错过了换乘，只好在车站坐了四个小时。好在终于把你借给我的那本小说看完了，结局真让人意外，我一直以为是园丁干的。",
    "小屋的无线网密码是多少？我找不到那张纸条，妈妈也不接电话",
    "热力学第二定律告诉我们，孤立系统的熵永远不会减少。这意味着热量总是从高温物体流向低温物体，永动机是不可能造出来的，每一次能量转换都会有一部分散失到周围环境中。",
    "请记住关于我的三件事：我对榛子过敏，我从不在星期一坐飞机，比起长篇报告我更喜欢简短的摘要。",
    "本季度收入增长了12.4%，达到380万元，运营费用基本持平。客户流失率从5.1%下降到4.3%，主要是因为新客户注册后两天内都会接到我们团队的电话。",
    "先用黄油小火把两个切碎的洋葱炒软，大约十分钟，再加入大蒜、番茄、一小撮糖和一枝百里香，不盖锅盖慢慢煮到浓稠，最后过筛。",
    "不对，你上周说租约是十月到期，不是九月。我们给房东打电话之前，你能再查一下合同吗？",
    "委员会一致建议，在独立的环境评估完成并公布之前，暂缓实施基础设施现代化改造计划。",
    "早上好！昨晚的情况如下：两次部署成功，一次因为健康检查失败而回滚，值班工程师在凌晨三点十二分重启了消息队列。目前没有需要您处理的事情。",
    "很久很久以前，一只狐狸住在安静的树林边上。每天傍晚她都走到河边，看着船上的灯笼慢慢漂过，心里想着它们要到哪里去。",
    "提醒：孩子们的游泳课五点开始，奶奶星期六过生日（八十岁了！），我们还没有订位子。要不要试试公园旁边那家意大利餐厅？",
    "她的论证建立在两个前提之上：第一，知识需要理由；第二，理由不能循环。只要否定其中任何一个，她所描述的倒退就不会开始。",
    "最近我觉得有点喘不过气来。工作还算顺利，但是总在凌晨四点醒来，躺在床上想那些忘了做的事。医生建议我睡前写一张清单，多少有点帮助。",
    "哈哈哈好的！！那八点见，记得带零食～",
    "主题：回复：发票20931\n\n尊敬的王女士：\n\n感谢您的提醒。款项已于星期五汇出，预计两个工作日内到账。对于延误，我们深表歉意。\n\n此致\n敬礼\n李明",
    "## 决定\n\n- 共享部署继续使用 PostgreSQL。\n- 数据保留 **90 天**，不是 30 天。\n"
    "- 安娜写迁移指南，彼得负责审阅。\n\n## 待定\n\n1. 第二个区域的费用由谁承担？\n",
    "光合作用利用叶绿素把二氧化碳和水转化为葡萄糖和氧气。光反应发生在类囊体膜上，而卡尔文循环则在叶绿体基质中进行。",
    "請幫我把週二的會議改到週四下午，並通知張經理和陳小姐。會議室預約好之後，麻煩再寄一封確認信給所有與會者，謝謝。",
    "春眠不覺曉，處處聞啼鳥。夜來風雨聲，花落知多少。",
]

JAPANESE = [
    "火曜日の歯医者の予約を木曜日の午後に変更していただけますか。三時以降なら何時でも大丈夫です。",
    "昨日マルガレータさんと話しました。予算は月末までに承認される見込みですが、署名する前にもう一度二社の比較を見たいそうです。",
    "電車がまた遅れて、乗り換えに間に合わず、駅で四時間も待つことになりました。でも、貸してくれた小説をやっと読み終えました。",
    "エラーが発生しました。ネットワークの接続を確認してから、もう一度アプリケーションを再起動してください。",
]

ARABIC = [
    "هل يمكنك نقل موعد طبيب الأسنان من يوم الثلاثاء إلى بعد ظهر يوم الخميس من فضلك؟ أي وقت بعد الثالثة مناسب.",
    "تحدثت أمس مع مارغريت، وهي تعتقد أن الميزانية ستعتمد قبل نهاية الشهر، لكنها تريد أن ترى مقارنة أخرى بين الموردين.",
    "تأخر القطار مرة أخرى ففاتني الاتصال واضطررت إلى قضاء أربع ساعات في المحطة، لكنني أنهيت الرواية أخيرا.",
]

HINDI = [
    "क्या आप कृपया मेरे दंत चिकित्सक की नियुक्ति मंगलवार से गुरुवार दोपहर तक बदल सकते हैं? तीन बजे के बाद कोई भी समय ठीक है।",
    "मैंने कल मार्गरेट से बात की। उन्हें लगता है कि बजट महीने के अंत तक मंज़ूर हो जाएगा, लेकिन वे एक और तुलना देखना चाहती हैं।",
    "रेलगाड़ी फिर देर से आई, इसलिए मुझे स्टेशन पर चार घंटे बिताने पड़े। अच्छी बात यह है कि मैंने उपन्यास पूरा पढ़ लिया।",
]

JAVASCRIPT = [
    """export async function loadTurns(sessionId, { limit = 50, before } = {}) {
  const params = new URLSearchParams({ limit: String(limit) });
  if (before) params.set("before", before);
  const response = await fetch(`/api/sessions/${encodeURIComponent(sessionId)}/turns?${params}`);
  if (!response.ok) {
    throw new Error(`Could not load turns: ${response.status} ${response.statusText}`);
  }
  return response.json();
}
""",
    """const debounce = (fn, wait = 200) => {
  let timer = null;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => fn.apply(this, args), wait);
  };
};

document.querySelectorAll("[data-filter]").forEach((input) => {
  input.addEventListener("input", debounce((event) => render(event.target.value.trim().toLowerCase())));
});
""",
    """import React, { useEffect, useState } from "react";

export default function TurnList({ turns, onSelect }) {
  const [selected, setSelected] = useState(null);
  useEffect(() => { if (selected !== null) onSelect(turns[selected]); }, [selected]);
  return (
    <ul className="turn-list">
      {turns.map((turn, index) => (
        <li key={turn.seq} className={index === selected ? "active" : ""} onClick={() => setSelected(index)}>
          <strong>{turn.role}</strong>: {turn.text}
        </li>
      ))}
    </ul>
  );
}
""",
    """interface Claim<K extends string> { readonly kind: K; token: number; until: Date; }
type Outcome = { ok: true; value: unknown } | { ok: false; error: Error };

export class Queue<K extends string> implements AsyncIterable<Claim<K>> {
  private readonly waiting: Array<(claim: Claim<K>) => void> = [];
  constructor(private readonly kinds: ReadonlySet<K>, private readonly leaseMs = 30_000) {}
  async *[Symbol.asyncIterator]() { while (true) yield await this.next(); }
  private next(): Promise<Claim<K>> { return new Promise((resolve) => this.waiting.push(resolve)); }
}
""",
    """const fs = require('fs'), path = require('path');
module.exports = function walk(dir, visit, depth = 0) {
  for (const entry of fs.readdirSync(dir, { withFileTypes: true })) {
    const full = path.join(dir, entry.name);
    if (entry.isDirectory() && depth < 10) walk(full, visit, depth + 1);
    else if (/\\.(jsx?|tsx?)$/.test(entry.name)) visit(full, fs.statSync(full).size);
  }
};
""",
]

MINIFIED = [
    '!function(e,t){"object"==typeof exports&&"undefined"!=typeof module?module.exports=t():"function"==typeof define&&'
    'define.amd?define(t):(e=e||self).Store=t()}(this,(function(){"use strict";var e=Object.assign||function(e){for(var '
    "t=1;t<arguments.length;t++){var n=arguments[t];for(var r in n)Object.prototype.hasOwnProperty.call(n,r)&&(e[r]=n[r])}"
    "return e};return function(t){var n=e({limit:50},t),r=[];return{push:function(e){r.length>=n.limit&&r.shift(),"
    "r.push(e)},all:function(){return r.slice()}}}}));",
    'const a=e=>e.split("").reduce(((e,t)=>(e<<5)-e+t.charCodeAt(0)|0),0),b=(e,t=20)=>e.length>t?e.slice(0,t-1)+"…":e,'
    "c=async(e,{retries:t=3,delay:n=250}={})=>{for(let r=0;;r++)try{return await e()}catch(e){if(r>=t)throw e;await new "
    "Promise((e=>setTimeout(e,n*2**r)))}};export{a as hash,b as clip,c as retry};",
    ".turn{display:flex;gap:8px;padding:4px 12px;border-bottom:1px solid #e5e7eb}.turn:hover{background:#f9fafb}.turn "
    "strong{min-width:72px;color:#4f46e5}@media(max-width:640px){.turn{flex-direction:column;padding:8px 4px}}",
    "<!doctype html><html lang=en><meta charset=utf-8><title>Log</title><link rel=stylesheet href=/s.css><body><main id=app>"
    "</main><script src=/a.js type=module></script><noscript><p>Needs scripts.</p></noscript></body></html>",
]

OTHER_CODE = [
    """SELECT s.id, count(*) AS turns, max(t.at_us) AS last_at
FROM sessions s JOIN turns t ON t.owner = s.owner AND t.session = s.id
WHERE s.owner = ? AND t.role IN ('user', 'assistant') AND s.closed_us IS NULL
GROUP BY s.id HAVING count(*) > 5 ORDER BY last_at DESC LIMIT 20;
""",
    """fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for line in io::stdin().lock().lines() {
        for word in line?.split_whitespace() { *counts.entry(word.to_lowercase()).or_insert(0) += 1; }
    }
    let mut sorted: Vec<_> = counts.into_iter().collect();
    sorted.sort_by(|a, b| b.1.cmp(&a.1));
    for (word, n) in sorted.iter().take(10) { println!("{n:>6} {word}"); }
    Ok(())
}
""",
    """#!/bin/sh
set -eu
for file in "$@"; do
    case "$file" in
        *.tar.gz|*.tgz) tar -xzf "$file" -C "${DEST:-.}" ;;
        *.zip) unzip -q "$file" -d "${DEST:-.}" ;;
        *) echo "unknown: $file" >&2; exit 2 ;;
    esac
done
""",
    """apiVersion: apps/v1
kind: Deployment
metadata:
  name: memory
  labels: {app: memory, tier: backend}
spec:
  replicas: 3
  template:
    spec:
      containers:
        - name: memory
          image: registry.example.com/memory:1.4.2
          resources: {limits: {cpu: "500m", memory: 256Mi}}
""",
]

_MODULES: list[ModuleType] = [
    argparse, asyncio.base_events, csv, dataclasses, difflib, email.message, heapq, http.client, logging, pathlib, shutil,
    string, tarfile, textwrap, unittest.mock,
]  # fmt: skip


def standard_library() -> list[str]:
    """Pieces of different lengths out of Python's own source."""
    chance = random.Random(11)
    pieces: list[str] = []
    for module in _MODULES:
        source = inspect.getsource(module)
        for chars in (250, 800, 3000):
            start = chance.randrange(max(1, len(source) - chars))
            pieces.append(source[start : start + chars])
    return pieces


def json_samples(words: list[str], joint: str, seed: int) -> list[str]:
    """Made-up records with words of a language in them: compact, spaced and indented in turn."""
    chance = random.Random(seed)
    keys = "id name status createdAt user_id items price total description url tags city enabled notes".split()  # noqa: SIM905

    def value(depth: int) -> object:
        kinds: list[Callable[[], object]] = [
            lambda: joint.join(chance.choices(words, k=chance.randint(1, 8))),
            lambda: joint.join(chance.choices(words, k=chance.randint(1, 3))),
            lambda: chance.randint(0, 10 ** chance.randint(1, 9)),
            lambda: round(chance.uniform(-90, 1000), 2),
            lambda: chance.choice([True, False, None]),
            lambda: f"2026-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}T{chance.randint(0, 23):02}:15:00Z",
            lambda: f"https://example.com/{chance.choice(keys)}/{chance.randint(1, 99999)}",
        ]
        if depth < 2:
            kinds += [lambda: record(depth + 1), lambda: [value(depth + 1) for _ in range(chance.randint(1, 4))]]
        return chance.choice(kinds)()

    def record(depth: int = 0) -> dict[str, object]:
        return {key: value(depth) for key in chance.sample(keys, chance.randint(3, 7))}

    dumps: list[Callable[[object], str]] = [
        lambda data: json.dumps(data, ensure_ascii=False, separators=(",", ":")),
        lambda data: json.dumps(data, ensure_ascii=False),
        lambda data: json.dumps(data, ensure_ascii=False, indent=2),
        lambda data: json.dumps(data),
    ]
    return [dumps[number % 4]([record() for _ in range(1 + number % 5)]) for number in range(24)]


def _han_words() -> list[str]:
    text = "".join(CHINESE)
    return [text[at : at + 2 + at % 4] for at in range(0, len(text), 5) if text[at : at + 5].isalpha()]


JSON = [
    *json_samples(" ".join(ENGLISH).split(), " ", 1),
    *json_samples(" ".join(POLISH).split(), " ", 2),
    *json_samples(_han_words(), "", 3),
]

NAMED = {
    "English": ENGLISH,
    "Polish": POLISH,
    "Chinese": CHINESE,
    "code": [*standard_library(), *JAVASCRIPT, *MINIFIED, *OTHER_CODE],
    "JSON": JSON,
}


def other_kinds() -> dict[str, list[str]]:
    chance = random.Random(5)
    faces = "😀😂🥰😎🤔👍🎉🔥✨🚀🐛🍕💡📅✅❌"
    numbers = [str(chance.randint(0, 10 ** chance.randint(1, 9))) for _ in range(60)]
    rows = [(chance.choice(["north", "Alice", "2026-01-02"]), str(chance.randint(0, 9999))) for _ in range(15)]
    words = [
        "api",
        "users",
        "search",
        "index.html",
        "static",
        "blog",
        "2026",
        "articles",
        "how-to-fix-this-error",
        "uploads",
    ]
    return {
        "Japanese": JAPANESE,
        "Arabic": ARABIC,
        "Hindi": HINDI,
        "emoji": [
            "".join(chance.choices(faces, k=30)),
            "😂" * 40,
            "👨‍👩‍👧‍👦 👍🏽 🇵🇱 ❤️ ⚠️ ➡️ " * 4,
            " ".join(f"{word} {face}" for word, face in zip(ENGLISH[4].split(), faces * 9, strict=False)),
        ],
        "base64": [base64.b64encode(chance.randbytes(size)).decode() for size in (60, 200, 900)],
        "hex": [chance.randbytes(size).hex() for size in (40, 200, 500)] + [chance.randbytes(90).hex().upper()],
        "URLs": [
            "\n".join(f"https://docs.example.com/{'/'.join(chance.choices(words, k=4))}?q={word}&page=3" for word in words)
        ],
        "blank space": [
            "\n".join(" " * chance.randint(0, 40) + chance.choice(["x = 1", "}", "return", ""]) for _ in range(60)),
            ("\t" * 4 + "item\r\n") * 20,
            " " * 5000,
            "\n" * 1000,
            " \n" * 200,
        ],
        "tables": [
            "| name | count |\n|---|---:|\n" + "\n".join(f"| {name} | {count} |" for name, count in rows),
            "\n".join(f"+{'-' * 14}+{'-' * 8}+\n|{name.ljust(14)}|{count.rjust(8)}|" for name, count in rows),
            "\n".join(f"{name},{count}" for name, count in rows),
        ],
        "numbers": ["".join(numbers), " ".join(numbers), "\n".join(numbers), "3.14159265358979" * 10],
    }  # fmt: skip


OTHERS = other_kinds()


def error(text: str) -> float:
    """How far the estimate lies above (or, negative, below) the real count, as a share of it."""
    return estimate(text) / real(text) - 1


@for_each("kind", NAMED)
def test_no_sample_is_estimated_more_than_15_percent_too_low(kind: str) -> None:
    samples = NAMED[kind]
    assert len(samples) >= 20
    low = {text[:60]: error(text) for text in samples if real(text) >= SHORT_TOKENS and error(text) < -0.15}
    assert not low


@for_each("kind", NAMED)
def test_a_whole_kind_is_estimated_no_lower_than_it_is_and_at_most_a_quarter_higher(kind: str) -> None:
    samples = NAMED[kind]
    whole = sum(map(estimate, samples)) / sum(map(real, samples)) - 1
    assert 0 <= whole <= 0.25
    joined = "\n\n".join(samples)
    assert -0.05 <= error(joined) <= 0.25


@for_each("kind", OTHERS)
def test_other_kinds_are_not_estimated_more_than_15_percent_too_low_either(kind: str) -> None:
    low = {text[:60]: error(text) for text in OTHERS[kind] if error(text) < -0.15}
    assert not low


def test_a_short_text_is_estimated_at_most_2_tokens_too_low() -> None:
    words = {word for kind in (ENGLISH, POLISH, CHINESE) for text in kind for word in text.split()}
    shorts = [text for kind in NAMED.values() for text in kind if real(text) < SHORT_TOKENS] + [
        "a", "ok", "?!", "x=1", "{}", "null", "😀", "👨‍👩‍👧‍👦", "2026-11-16T01:02:03Z",
        "INC-4471", "\n", " ", "https://a.b/c", "źdźbło", "永",
    ]  # fmt: skip
    low = {text: (estimate(text), real(text)) for text in [*shorts, *(w for w in words if real(w) < SHORT_TOKENS)]}
    assert not {text: both for text, both in low.items() if both[0] < both[1] - 2}


def test_nothing_is_no_tokens_and_anything_is_at_least_one() -> None:
    assert estimate("") == 0
    assert all(estimate(char) >= 1 for char in "a .\n\t0é中😀\u200b\x01")


@given(st.text(max_size=300))
def test_any_text_has_an_estimate_between_a_token_for_100_characters_and_4_for_each(text: str) -> None:
    assert len(text) / 100 <= estimate(text) <= 4 * len(text) + 1


@given(st.text(max_size=200), st.text(max_size=200))
def test_a_longer_text_is_never_estimated_much_shorter(head: str, tail: str) -> None:
    assert estimate(head + tail) >= 0.5 * estimate(head)


def test_every_character_belongs_to_a_piece() -> None:
    everything = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x11000), *range(0x1F000, 0x20000)]))
    pieces = tokens._PIECES.findall(everything)  # pyright: ignore[reportPrivateUsage]
    assert "".join(pieces) == everything


def test_of_a_giant_text_no_more_is_read_than_of_a_long_one(monkeypatch: pytest.MonkeyPatch) -> None:
    giant = " ".join(ENGLISH) * 16_000
    assert len(giant) > 50_000_000
    read: list[int] = []
    weigh = tokens._weigh  # pyright: ignore[reportPrivateUsage]

    def noted(text: str) -> float:
        read.append(len(text))
        return weigh(text)

    with monkeypatch.context() as patch:
        patch.setattr(tokens, "_weigh", noted)
        tokens_estimated = estimate(giant)
    assert 0 < sum(read) <= WHOLE_CHARS_MAX
    assert tokens_estimated == pytest.approx(16_000 * estimate(" ".join(ENGLISH)), rel=0.05)


def test_slices_see_a_giant_text_whose_end_differs_from_its_beginning() -> None:
    mixed = "a plain English sentence of words. " * 4_000 + "".join(CHINESE) * 100
    assert len(mixed) > WHOLE_CHARS_MAX
    assert error(mixed) > -0.15


def test_parts_are_estimated_as_the_compact_json_that_is_sent() -> None:
    call = {
        "type": "tool_call",
        "id": "call_1",
        "name": "read_file",
        "arguments": {"path": "src/app.py", "lines": [1, 2]},
    }
    result = {"type": "tool_result", "id": "call_1", "content": "zażółć gęślą jaźń"}
    compact = [json.dumps(part, ensure_ascii=False, separators=(",", ":")) for part in (call, result)]
    assert estimate_parts([call, result]) == sum(map(estimate, compact))
    assert estimate_parts([]) == 0


def test_parts_may_be_mappings_and_sequences_of_any_make() -> None:
    plain = {"type": "tool_call", "arguments": {"lines": [1, 2, 3]}}
    frozen = MappingProxyType({"type": "tool_call", "arguments": MappingProxyType({"lines": range(1, 4)})})
    assert estimate_parts([frozen]) == estimate_parts([plain])


def test_a_message_has_a_small_price_of_its_own() -> None:
    assert 3 <= MESSAGE_TOKENS <= 6
