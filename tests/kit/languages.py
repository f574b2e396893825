"""A short talk in English, and what a model made of such talk in nine languages."""

from __future__ import annotations

ENGLISH = (
    "12:00 user: I want to move the review with Ben to Tuesday, and what about the budget that you have?\n"
    "12:01 assistant: It is moved to Tuesday, and the budget of 450 EUR is what they agreed on.\n"
)
SUMMARIES = {
    "English": "The review with Ben is moved to Tuesday, and the budget of 450 EUR is what they agreed on with the others.",
    "German": "Das Treffen mit Ben ist am Dienstag. Der Nutzer ist nicht da, und das Budget ist noch nicht fertig.",
    "Polish": "Spotkanie w biurze jest we wtorek. Ben nie był na nim, a budżet nie jest jeszcze gotowy, co już wiadomo.",
    "French": "La réunion avec Ben est mardi, et le budget qui est dans le dossier n'est pas prêt pour les autres.",
    "Spanish": "La reunión con Ben es el martes, y el presupuesto que está en la carpeta no es el que se quería.",
    "Chinese": "用户询问了会议的时间和预算，会议在星期二举行，地点还没有确定，由谁准备材料也需要再问。",
    "Japanese": "ユーザーは会議の日時と予算について尋ねました。会議は火曜日で、場所はまだ決まっていません。",
    "Arabic": "سأل المستخدم عن موعد الاجتماع مع المدير وعن الميزانية، والاجتماع يوم الثلاثاء ولم تحدد الميزانية بعد.",
    "Hindi": "उपयोगकर्ता ने बैठक के समय और बजट के बारे में पूछा। बैठक मंगलवार को है और बजट अभी तय नहीं हुआ है।",
}
